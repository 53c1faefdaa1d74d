//! Tests that tmux does what plans predict: windows of a real server on a private socket, each plan
//! predicted and checked.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::Command;

use paned_model::Time;
use paned_policy::layout::{
    Decision, LayoutDirection, LayoutKind, LayoutLimits, LayoutRequest, LayoutStep, LayoutWindow,
    ManagedPane, ManagedPaneState, NoRoom, PaneOwner, PaneOwners, decide, rebalance,
};

/// A private tmux server with one window, killed on drop.
struct LayoutTestTmux {
    name: String,
    titled: bool,
}

impl LayoutTestTmux {
    fn start(name: &str, titled: bool) -> Self {
        let name = format!("paned-{}-{name}", std::process::id());
        let tmux = Self { name, titled };
        tmux.run(&["new-session", "-d", "-s", "w", "-x", "250", "-y", "60", "sleep 600"]);
        tmux.run(&["set", "-t", "w", "status", "off"]);
        let status = if titled { "top" } else { "off" };
        tmux.run(&["set", "-w", "-t", "w:", "pane-border-status", status]);
        tmux
    }

    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").args(["-L", &self.name, "-f", "/dev/null"]).args(args);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn window(&self) -> LayoutWindow {
        let format = "#{window_layout} #{pane_id} #{window_zoomed_flag}";
        let fields = self.run(&["display", "-p", "-t", "w:", format]);
        let fields: Vec<&str> = fields.split(' ').collect();
        let mut window = LayoutWindow::parse(fields[0], fields[1].parse().ok()).unwrap();
        (window.zoomed, window.titled) = (fields[2] == "1", self.titled);
        window
    }

    /// Runs all steps in one command line, as intended.
    fn act(&self, steps: &[LayoutStep]) {
        let steps: Vec<_> = steps.iter().map(words).collect();
        let line = steps.join(&";".to_owned());
        self.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

impl Drop for LayoutTestTmux {
    fn drop(&mut self) {
        // The server does not remove its socket.
        let socket = self.run(&["display", "-p", "#{socket_path}"]);
        self.run(&["kill-server"]);
        let _ = std::fs::remove_file(socket);
    }
}

fn words(step: &LayoutStep) -> Vec<String> {
    let split = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    match step {
        LayoutStep::Split { target, direction } => {
            let way = if *direction == LayoutDirection::Right { "-h" } else { "-v" };
            let mut words = split(format!("split-window -d {way} -t {target}"));
            words.push("sleep 600".to_owned());
            words
        }
        LayoutStep::Close(pane) => split(format!("kill-pane -t {pane}")),
        LayoutStep::Swap(a, b) => split(format!("swap-pane -d -s {a} -t {b}")),
        LayoutStep::Arrange(layout) => split(format!("select-layout -t w: {layout}")),
        LayoutStep::Zoom(pane) => split(format!("resize-pane -Z -t {pane}")),
    }
}

/// A window in use: panes are requested, closed, zoomed and resized, and foreign panes appear.
struct LayoutSimulation {
    tmux: LayoutTestTmux,
    owners: PaneOwners,
    limits: LayoutLimits,
    seed: u64,
    /// How many plans were carried out.
    plans: usize,
}

impl LayoutSimulation {
    fn start(layout: LayoutKind, seed: u64, titled: bool) -> Self {
        let tmux = LayoutTestTmux::start(&format!("{layout}-{seed}"), titled);
        let owners =
            tmux.window().panes().into_iter().map(|pane| (pane, PaneOwner::Main)).collect();
        let limits = LayoutLimits {
            layout,
            main_pane_size: 50,
            main_pane_min_width: 60,
            agent_pane_min_width: 30,
            min_height: 7,
        };
        Self { tmux, owners, limits, seed, plans: 0 }
    }

    fn random(&mut self, sides: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed % 1_000_003).unwrap() % sides
    }

    fn turn(&mut self, number: usize) {
        let window = self.tmux.window();
        let panes = window.panes();
        let any = panes[self.random(panes.len())];
        match self.random(12) {
            0..=5 => self.ask(&window, number),
            6 if self.owners.main(&window) != Some(any) && window.active != Some(any) => {
                self.tmux.run(&["kill-pane", "-t", &any.to_string()]);
            }
            7 if window.root().find(any).unwrap().height > 2 => {
                self.tmux.run(&["split-window", "-d", "-t", &any.to_string(), "sleep 600"]);
            }
            8 => {
                let (cols, rows) = (100 + self.random(200), 20 + self.random(60));
                let (cols, rows) = (cols.to_string(), rows.to_string());
                self.tmux.run(&["resize-window", "-t", "w:", "-x", &cols, "-y", &rows]);
            }
            9 if panes.len() > 1 => {
                self.tmux.run(&["resize-pane", "-Z", "-t", &any.to_string()]);
            }
            _ => self.settle(&window),
        }
    }

    fn ask(&mut self, window: &LayoutWindow, number: usize) {
        let pane = format!("agent-{number}").parse().unwrap();
        let request = LayoutRequest { pane, replace_ok: true, no_room: NoRoom::Wait };
        let decision = decide(window, &self.owners, &request, &self.limits);
        if let Decision::Window { .. } | Decision::Defer { .. } | Decision::Skip { .. } = decision {
            return;
        }
        self.tmux.act(&decision.steps());
        let after = self.tmux.window();
        let new = after.panes().into_iter().find(|pane| !window.panes().contains(pane)).unwrap();
        assert_eq!(window.apply(&decision.steps(), new).unwrap(), after, "{decision:?}");
        if !after.zoomed {
            let height =
                self.tmux.run(&["display", "-p", "-t", &new.to_string(), "#{pane_height}"]);
            assert!(height.parse::<u16>().unwrap() >= self.limits.min_height, "{decision:?}");
        }
        let state = [ManagedPaneState::Idle, ManagedPaneState::Busy, ManagedPaneState::Exited]
            [self.random(3)];
        let since = Time(u64::try_from(number).unwrap());
        let ours = ManagedPane { pane: request.pane, state, persistent: false, since };
        self.owners.set(new, PaneOwner::Managed(ours));
        self.plans += 1;
    }

    fn settle(&mut self, window: &LayoutWindow) {
        let steps = rebalance(window, &self.owners, &self.limits);
        if let Some(last) = window.panes().last().filter(|_| !steps.is_empty()) {
            self.tmux.act(&steps);
            assert_eq!(window.apply(&steps, *last).unwrap(), self.tmux.window(), "{steps:?}");
            self.plans += 1;
        }
    }
}

#[test]
fn tmux_makes_of_a_plan_what_was_predicted() {
    let mut plans = 0;
    let kinds = [LayoutKind::Vertical, LayoutKind::Horizontal, LayoutKind::Grid];
    for (seed, (kind, titled)) in
        (1..).zip(kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]))
    {
        let mut simulation = LayoutSimulation::start(kind, seed * 7919, titled);
        (0..25).for_each(|number| simulation.turn(number));
        plans += simulation.plans;
    }
    assert!(plans > 40, "only {plans} plans were tried");
}
