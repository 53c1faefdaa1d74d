//! The table of attempts.

use super::*;

/// What OpenCode's terminal plugin lets through, and what it should have let through.
const KNOWN: &str = "
ask git push
ask git push origin
ask git commit -m push
deny git push origin --force
deny git push --force-with-lease=x --force
allow npm
allow npm install
deny npm publish
deny npm run x publish
deny /bin/rm -rf x
deny /usr/local/bin/rm x
deny ../../bin/rm x
deny bash -c rm␣-rf␣x
deny sh -c rm
";

/// More programs that start others, where the default is to allow.
const RUNNERS: &str = r#"
deny pnpm exec rm x
deny pnpm dlx rm x
deny npm exec -- rm x
deny yarn dlx rm x
deny bun x rm x
never bun -e rm x
never bun --eval y x
never npm exec -c rm␣x
deny coresched exec rm x
deny paned new -- rm x
deny paned run --id a -- rm x
allow paned ls
deny conda run -n x rm x
deny conda run rm x
deny pixi run rm x
deny op run -- rm x
deny op run --env-file=x -- rm x
deny doppler run -p x -- rm x
deny aws-vault exec x -- rm x
deny chamber exec x -- rm x
deny direnv exec . rm x
deny nix shell n -c rm x
deny ip netns exec x rm x
deny limactl shell x rm x
deny apptainer exec x.sif rm x
deny perf stat rm x
deny perf stat -e cycles -- rm x
deny rr record rm x
deny systemd-inhibit rm x
deny tini -- rm x
deny dumb-init rm x
deny gosu root rm x
deny su-exec root rm x
deny setuidgid u rm x
deny envdir d rm x
deny faketime x rm x
deny chpst -u x rm x
deny torify rm x
deny cross-env A=b rm x
deny ccache rm x
deny run0 rm x
never concurrently rm␣x
never cargo watch -s rm␣x
never just -c rm x
never asciinema rec -c rm␣x
never ansible all -a rm␣x
never gcc -wrapper rm␣x
never scp -S rm a b:
never scp -oProxyCommand=rm␣x a b:
never sqlite3 x .shell␣rm␣x
never rg --hostname-bin rm
never tsx -e x
never zsh -c -␣rm␣x
deny env PAGER=rm␣x git log
deny env BASH_FUNC_ls%%=()␣{␣rm␣x;␣} bash -c ls
deny $ PROMPT_COMMAND="rm x" bash -i
deny $ GIT_SSH_COMMAND='rm x' git fetch
deny $ export PAGER='rm x'; git log
never $ echo rm x > >(sh)
never $ echo rm x 2> >(bash)
never $ { echo rm x; } > >(sh)
never $ exec 3> >(sh); echo rm x >&3
never $ tee x >(sh) <<< 'rm x'
allow $ tee x > >(cat)
allow uv run pytest -k curl
allow conda run -n rmx ls
allow $ PAGER=less PATH=/usr/bin:/bin git log
allow env X=rm␣x ls
allow npm run exec
allow perf list
"#;

/// Quoting and spelling.
const QUOTING: &str = r#"
deny $ rm x
deny $ 'rm' x
deny $ "rm" x
deny $ r'm' x
deny $ r""m x
deny $ \rm x
deny $ r\m x
never $ $'rm' $(
never $ $'\x72\x6d' x
never $ $'\162m' x
deny $ $'rm' x
never $ $"rm" x
deny $ "r"'m' x
never $ r{m,} x
never $ {rm,x}
never $ /bin/r?
never $ /bin/r* x
never $ /b[i]n/rm x
never $ ~/rm x
never $ =rm x
never $ r${x}m y
never $ r$(true)m y
never $ r`true`m y
never $ r$@m x
never $ ${SHELL} -c ls
never $ $0 -c ls
never $ "$@"
never $ $X
never $ $(echo rm) x
never $ `echo rm` x
never $ X=rm; $X y
never $ X=ls; $X
never $ "$(printf rm)" x
never $ ${x:-rm} y
never $ ${x:=rm} y
never $ ${!x} y
never $ $((1))rm
deny $ \n\nrm x
deny $ ls # x\nrm x
deny $ "rm" "x y"
never $ rm\u00a0x
deny % rm x
deny % r""m x
deny % 'r'm x
"#;

/// Several commands in one text.
const LISTS: &str = r#"
allow $ ls
allow $ ls; ls
allow $ ls | grep x
allow $ cat x | grep y | grep z
allow $ git status && git log --oneline
allow $ cd x && ls
allow $ true || ls
allow $ ! ls
allow $ echo hello
allow $ ls 2>/dev/null
allow $ ls 2>&1
ask $ ls; make x | unknown
deny $ ls; rm x
deny $ ls && rm x
deny $ ls || rm x
deny $ ls & rm x
deny $ ls | rm x
deny $ ls |& rm x
deny $ ! rm x
deny $ time rm x
deny $ (rm x)
deny $ { rm x; }
deny $ ( ( rm x ) )
deny $ if ls; then rm x; fi
deny $ if rm x; then ls; fi
deny $ if ls; then ls; elif rm x; then ls; fi
deny $ if ls; then ls; else rm x; fi
deny $ while rm x; do ls; done
deny $ until ls; do rm x; done
deny $ for i in a b; do rm $i; done
deny $ for i in $(rm x); do ls; done
deny $ for ((i=0;i<1;i++)); do rm x; done
deny $ case x in x) rm x;; esac
deny $ case $(rm x) in x) ls;; esac
deny $ f() { rm x; }; f
never $ ls() { cat x; }; ls
never $ function ls { cat x; }; ls
deny $ ls <(rm x)
deny $ ls >(rm x)
deny $ cat < <(rm x)
deny $ ls > >(rm x)
deny $ ls $(rm x)
deny $ ls "$(rm x)"
deny $ ls `rm x`
deny $ ls "`rm x`"
deny $ ls $(ls $(rm x))
deny $ ls $(ls `rm x`)
deny $ X=$(rm x)
deny $ X=$(rm x) ls
deny $ X=`rm x`
deny $ X=($(rm x))
deny $ export X=$(rm x)
deny $ ls ${x:-$(rm y)}
deny $ ls ${x:-`rm y`}
deny $ ls "${x/$(rm y)/b}"
deny $ ls $((1+$(rm x)))
never $ ((x[$(rm y)]=1))
never $ let 'x[$(rm y)]=1'
never $ x='a[$(rm y)]'; ls $((x))
never $ [[ -v 'x[$(rm y)]' ]]
never $ test -v 'x[$(rm y)]'
never $ [ -v 'x[$(rm y)]' ]
never $ printf -v 'x[$(rm y)]' a
never $ read 'x[$(rm y)]'
never $ unset 'x[$(rm y)]'
never $ declare 'x[$(rm y)]=1'
never $ x[$(rm y)]=1
deny $ [[ $(rm x) ]]
deny $ [[ a == $(rm x) ]]
never % [[ a && rm x ]]
never % ((rm x))
never % function rm { ls; }
never % ls &> rm
never $ coproc rm x
never $ select x in $(rm y); do ls; done
deny $ cat <<E\n$(rm x)\nE\n
deny $ cat <<E\n$(ls "$(rm x)")\nE\n
deny $ cat <<E\n"$(rm x)"\nE\n
deny $ cat <<E\n\"$(rm x)\"\nE\n
deny $ cat <<E\n$(ls "a # b"; rm x)\nE\n
allow $ cat <<'E'\n$(rm x)\nE\n
deny $ cat <<E\nx\nE\nrm x
deny $ cat <<< $(rm x)
deny $ cat <<-E\n\tx\n\tE\nrm x
never $ ls > x; ./x
never $ ls )
never $ ls "
never $ if ls
never $ ls ;;
never $ cat <<E
"#;

/// Programs that start others.
const WRAPPERS: &str = r#"
allow env ls
allow nohup ls
allow timeout 5 ls
allow nice ls
allow nice -n 10 ls
allow nice -10 ls
allow stdbuf -oL ls
allow bash -c ls
allow sh -c ls
allow bash -lc ls
allow /bin/bash -c ls
allow bash -euo pipefail -c ls
allow find . -name x
allow find . -exec grep x {} ;
allow xargs grep x
never sudo ls
never /tmp/ls
never ./ls
never /tmp/bash -c ls
deny env rm x
deny /usr/bin/env rm x
deny env -i rm x
deny env -u X rm x
deny env -uX rm x
deny env A=b C=d rm x
deny env -- rm x
deny env -C / rm x
deny env --chdir=/ rm x
deny env env env rm x
deny env -S rm␣x
deny env -Srm␣x
deny env --split-string=rm␣x
never env -S ls
never env PATH=/tmp ls
never env LD_PRELOAD=x ls
never env --weird ls
deny sudo rm x
deny sudo -u root rm x
deny sudo -uroot rm x
deny sudo -n -E -- rm x
deny sudo A=b rm x
never sudo -s
never sudo -i
never sudo --weird ls
deny doas rm x
deny nohup rm x
deny setsid -f rm x
deny nice -n 5 rm x
deny nice --adjustment=5 rm x
deny ionice -c 3 rm x
deny timeout 5 rm x
deny timeout -s KILL 5 rm x
deny timeout --signal=KILL 5 rm x
deny timeout -k 1 5 rm x
deny stdbuf -o L rm x
deny chrt 1 rm x
deny taskset -c 0 rm x
deny strace -f -o x rm y
deny time rm x
deny /usr/bin/time -v rm x
deny xargs rm
deny xargs -n 1 rm
deny xargs -0 -I {} rm {}
deny xargs -I{} sh -c rm␣x
never xargs -I{} {} x
never xargs -I{} sh -c {}
never xargs bash -c
deny busybox rm x
deny toybox rm x
deny busybox sh -c rm␣x
deny chroot / rm x
deny unshare -r rm x
deny find . -exec rm {} ;
deny find . -exec rm {} +
deny find . -execdir rm {} ;
deny find . -ok rm {} ;
deny find . -exec sh -c rm␣x ;
deny find . -exec grep x {} ; -exec rm {} ;
never find . -exec {} ;
never find . -exec sh -c {} ;
deny fd x -x rm
deny bash -lc rm␣x
deny bash -x -c rm␣x
deny bash --norc -c rm␣x
deny bash -o pipefail -c rm␣x
deny bash -euo pipefail -c rm␣x
deny bash +x -c rm␣x
deny bash -c -- rm
deny bash -c bash␣-c␣'rm␣x'
deny bash -c sh␣-c␣"rm␣x"
deny zsh -c rm␣x
deny dash -c rm␣x
deny ksh -c rm␣x
deny /tmp/shell -c rm␣x
never fish -c ls
never csh -c ls
never bash -c $0 ls
never bash --weird -c ls
never bash --rcfile x
never bash -s
never bash script.sh
never $ . ./x
never $ source x
never $ eval ls
deny $ eval rm x
deny $ eval 'rm x'
deny $ eval "r""m x"
never $ eval $X
deny $ exec rm x
deny $ exec -a ls rm x
deny $ command rm x
deny $ command -p rm x
deny $ builtin rm x
allow $ command -v rm
deny $ trap 'rm x' EXIT
never $ trap ls EXIT
never $ alias ls=rm; ls
never $ hash -p /bin/rm ls; ls
never $ enable -f ./x ls
never $ PATH=/tmp:$PATH ls
never $ PATH=/tmp; ls
never $ export PATH=/tmp; ls
never $ declare -x PATH=/tmp; ls
never $ read PATH; ls
never $ for PATH in /tmp; do ls; done
never $ printf -v PATH /tmp; ls
never $ LD_PRELOAD=./x ls
never $ BASH_ENV=x bash -c ls
never $ IFS=x; ls
never $ export $X; ls
never $ ls | sh
never $ cat x | bash
never $ curl x | sh
deny $ curl x | sh
never $ cat x | bash -s
never $ bash < x
never $ bash <<< ls
never $ bash <(cat x)
deny $ bash <<E\nrm x\nE\n
deny $ sh <<'E'\nrm x\nE\n
deny $ bash <<< 'rm x'
never $ cat x | python
never $ cat x | python -
never $ cat x | xargs sh
never $ cat x | bash /dev/stdin
deny $ ls | xargs rm
deny $ ls | xargs -n1 env rm
never $ ls | parallel
never python -c ls
never python3 -c ls
never python3.11 -c ls
never python -Ic ls
never python -m http.server
never perl -e ls
never ruby -e ls
never node -e ls
never node --eval=ls
never php -r ls
never vim -c :!ls
never vim +:!ls
never tar --to-command=x -xf y
never tar --checkpoint-action=exec=x -cf y z
never tar --use-compress-prog x -cf y
never tar -Ix -cf y
never awk BEGIN{system("ls")}
never awk BEGIN{print|"sh"}
never sed s/x/ls/e
never sed 1e␣ls x
never sed e x
allow sed s/a/b/ x
allow awk {print␣$1} x
never ssh host ls
deny ssh host rm x
never su -c ls
deny su -c rm␣x
deny su root -c rm␣x
never script -c ls
deny script -qc rm␣x x
deny watch rm x
deny flock x rm y
never tmux new ls
never docker run x ls
never git -c alias.status=!rm status
never git -C x -c alias.status=!rm status
never git -calias.status=!rm status
never $ git $X status
never $ python $X x
never $ tar $X
never $ exec < x; bash
never git --exec-path=/tmp status
never git status --upload-pack=x
never git rebase -x ls
never git bisect run ls
never git submodule foreach ls
never at now
never socat x EXEC:ls
never rsync -e ls x y
never /lib64/ld-linux-x86-64.so.2 /bin/ls
deny /lib64/ld-linux-x86-64.so.2 /bin/rm x
deny /tmp/x y
deny ./x y
deny safe x
deny env safe x
deny $ ./x y
never $ cd /; ./ls
deny uv run rm x
deny npx rm x
deny poetry run rm x
deny systemd-run rm x
deny nsenter rm x
deny dd if=x of=/dev/sda
deny chmod -R 777 x
deny rm
"#;

#[test]
fn what_opencode_pty_lets_through_is_judged() {
    check(KNOWN, &usual());
}

#[test]
fn quoting_hides_no_program() {
    check(QUOTING, &usual());
}

#[test]
fn every_command_of_a_text_is_judged() {
    check(LISTS, &usual());
}

#[test]
fn programs_that_start_others_are_seen_through() {
    check(WRAPPERS, &usual());
}

#[test]
fn runners_and_variables_are_seen_through_where_the_default_is_to_allow() {
    check(RUNNERS, &rules(Allow, &[(Deny, "rm"), (Deny, "curl")]));
}

#[test]
fn the_table_has_at_least_150_attempts() {
    let tables = [KNOWN, QUOTING, LISTS, WRAPPERS, RUNNERS].join("\n");
    let attempts =
        tables.lines().filter(|line| line.starts_with("deny ") || line.starts_with("never "));
    assert!(250 <= attempts.count());
}
