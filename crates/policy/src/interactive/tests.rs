//! Tests of the interactive verdict: each line is a command as a user would type it.

use proptest::prelude::*;

use super::*;

/// Splits words as a shell would; only single quotes count.
fn argv(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

fn word(verdict: &InteractiveVerdict) -> &'static str {
    match verdict {
        InteractiveVerdict::Interactive { .. } => "interactive",
        InteractiveVerdict::Plain { .. } => "plain",
        InteractiveVerdict::Unknown { .. } => "unknown",
    }
}

#[track_caller]
fn all(expect: &str, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let verdict = judge(&argv(line), &[]);
        assert_eq!(word(&verdict), expect, "{line}: {verdict}");
    }
}

#[test]
fn editors_screens_and_pagers_need_a_terminal() {
    all(
        "interactive",
        "vim
        /usr/bin/vim src/lib.rs
        vi -R a
        nvim a
        nano a
        emacs -nw a
        htop
        top
        btop
        less a
        more a
        man ls
        watch -n 1 date
        fzf
        gdb ./a.out
        crontab -e
        lazygit",
    );
    all(
        "plain",
        "vim --version
        nvim --headless +q
        emacs a
        emacs --batch -nw -l a.el
        top -b -n 1
        man -k printf
        fzf --filter x
        gdb -batch -ex bt ./a.out
        crontab -l
        R CMD build .",
    );
}

#[test]
fn prompts_need_a_terminal_until_they_are_told_what_to_run() {
    all(
        "interactive",
        "python
        python3
        python3.12 -q
        python -i script.py
        python -i -c 'x = 1'
        python -W ignore
        node
        node -r ./hook.js
        irb
        ghci Main.hs
        psql
        psql -h db -U me shop
        mysql -u root shop
        sqlite3 shop.db
        sqlite3 -column -header shop.db
        mysql -psecret shop
        redis-cli -h db
        deno repl
        bash
        bash -l
        zsh -i
        su -
        php -a",
    );
    all(
        "plain",
        "python script.py
        python script.py -i
        python -c 'print(1)' -i
        python -cprint(1) -i
        python -mhttp.server -i
        python -m http.server
        python -m pytest -i
        python3 --version
        node app.js
        node -e 1
        node -pe 1
        ghci -e main
        psql -c 'select 1'
        psql -h db -c 'select 1'
        psql shop --command='select 1'
        psql -f a.sql
        mysql shop -e 'select 1'
        mysql -uroot -e 'select 1'
        sqlite3 shop.db 'select 1'
        redis-cli -h db get key
        deno run a.ts
        bash script.sh
        bash script.sh -i
        su -c ls me
        php a.php",
    );
}

#[test]
fn other_machines_terminals_and_containers_need_one_without_a_command() {
    all(
        "interactive",
        "ssh host
        ssh -p 2222 -i key me@host
        ssh -t host htop
        ssh host -p 22
        tmux
        tmux attach -t a
        tmux -L other a
        tmux new -s a
        screen
        screen -r a
        docker exec -it c sh
        docker exec -ti c sh
        docker run --rm -i -t -v /a:/a ubuntu
        kubectl -n a exec -it pod -- sh
        kubectl exec pod --stdin --tty -- sh
        kubectl edit deploy a",
    );
    all(
        "plain",
        "ssh host uptime
        ssh -N -L 1:a:2 host
        ssh -p 2222 host uptime -t
        tmux ls
        tmux new-session -d -s a
        tmux kill-session -t a
        screen -ls
        screen -dmS a top
        docker exec c ls -it
        docker exec c ls -t
        docker ps
        docker run ubuntu ls -t
        kubectl exec pod -- ls
        kubectl get pods",
    );
}

#[test]
fn git_needs_one_when_it_asks_or_opens_an_editor() {
    all(
        "interactive",
        "git commit
        git commit -a
        git commit --amend
        git -C /a commit
        git -c a=b commit -v
        git commit -m a -e
        git rebase -i HEAD~3
        git rebase --interactive main
        git add -p
        git stash -p
        git tag -a v1
        git revert HEAD",
    );
    all(
        "plain",
        "git commit -m 'a b'
        git commit -am -e
        git commit --message=a
        git commit --amend --no-edit
        git commit -F notes
        git commit -Sme -m a
        git rebase main
        git add .
        git add -- -p
        git status
        git tag -a v1 -m v1
        git tag
        git revert --no-edit HEAD
        git log commit",
    );
}

#[test]
fn wrappers_are_looked_through() {
    all(
        "interactive",
        "sudo vim /etc/hosts
        sudo -u me -E vim a
        sudo -i
        sudo EDITOR=vi visudo
        env A=1 B=2 vim
        env -u A vim
        nice -n 5 htop
        nice -10 htop
        time vim
        nohup top
        command vim
        command -p vim
        timeout -s KILL 10 vim
        stdbuf -oL less a
        setsid vim
        bash -c vim
        bash -lc 'vim a'
        sh -c 'cd /a && vim b'
        bash -c 'A=1 vim \"a b\"'
        sudo env A=1 bash -c 'exec vim'
        uv run python
        poetry run ipython
        bundle exec irb",
    );
    all(
        "plain",
        "sudo ls
        sudo -u vim ls
        sudo
        env
        env A=1
        nice -n 5 make
        timeout 10 make
        timeout 10
        bash -c 'cd /a && make; echo done'
        bash -c 'echo vim'
        command -v vim
        sh -c 'command -V vim && echo yes'
        command -pv vim
        uv sync
        uv run python a.py",
    );
}

#[test]
fn a_shell_text_that_is_not_simple_is_unknown() {
    all(
        "unknown",
        "bash -c '$EDITOR a'
        bash -c 'make | tee log'
        bash -c 'vim < a'
        bash -c '(make)'
        bash -c 'echo \"$(vim a)\"'
        bash -c 'make &'
        bash -c \"'\"
        sh -c 'make; `which vim`'",
    );
    let deep = "sudo ".repeat(20) + "vim";
    all("unknown", &deep);
    // One command that surely needs a terminal is enough, if all can be parsed.
    all("interactive", "sh -c 'make || vim a'");
}

#[test]
fn everything_else_is_plain_and_says_why() {
    all("plain", "ls\ncargo build\nmake\nvimtutor-like\necho vim");
    let reason = judge(&["/bin/ls"], &[]).to_string();
    assert_eq!(reason, "plain: no rule matches `ls`");
    assert_eq!(judge::<&str>(&[], &[]).to_string(), "plain: the command is empty");
    let reason = judge(&["psql", "-c", "x"], &[]).to_string();
    assert_eq!(reason, "plain: `psql` needs no terminal with `-c`");
    let reason = judge(&["sudo", "vim"], &[]).to_string();
    assert_eq!(reason, "interactive (vim): it is an editor");
}

#[test]
fn the_users_rules_come_first_and_the_first_of_them_decides() {
    #[derive(Deserialize)]
    struct RuleFile {
        rules: Vec<UserRule>,
    }
    let text = "rules = [
        { program = 'mytool', args = ['db', 'repl'], visible = true },
        { program = 'mytool', visible = false },
        { program = 'vim', args = ['--quick'], visible = false },
        { program = 'sudo', args = ['mine'], visible = true },
    ]";
    let rules = toml::from_str::<RuleFile>(text).unwrap().rules;
    for (line, expect) in [
        ("mytool db repl", "interactive"),
        ("/opt/mytool -v db --now repl", "interactive"),
        ("mytool repl db", "plain"),
        ("vim --quick a", "plain"),
        ("vim a", "interactive"),
        ("sudo mine", "interactive"),
        ("env mytool db repl", "interactive"),
        ("bash -c 'mytool db repl'", "interactive"),
    ] {
        assert_eq!(word(&judge(&argv(line), &rules)), expect, "{line}");
    }
    let json = serde_json::to_value(judge(&["mytool", "db", "repl"], &rules)).unwrap();
    assert_eq!(json["verdict"], "interactive");
    assert_eq!(json["reason"], "your rule `mytool db repl` matches");
    assert!(toml::from_str::<UserRule>("program = 'a'\nvisible = true\nargv = []").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_words_make_it_panic(line in proptest::collection::vec(
        prop_oneof![
            "[-=a-z '\"|;&$]{0,8}",
            proptest::sample::select(vec!["sudo", "env", "bash", "-c", "git", "commit", "-m", "ssh", "--", "-"])
                .prop_map(str::to_owned),
        ],
        0..10,
    )) {
        let _ = judge(&line, &[]);
    }

    #[test]
    fn a_wrapper_changes_nothing(line in proptest::sample::select(vec!["vim a", "make", "python", "ssh host ls"])) {
        let bare = judge(&argv(line), &[]);
        for wrapper in ["sudo", "env A=1", "nice -n 3", "timeout 5", "nohup", "sudo -u me time"] {
            prop_assert_eq!(&judge(&argv(&format!("{wrapper} {line}")), &[]), &bare);
        }
        prop_assert_eq!(word(&judge(&["sh", "-c", line], &[])), word(&bare));
    }
}
