/** Written by `make docs` from the actions, events and messages of paned. */

/** Parameters and answers of actions, by name. */
export interface Actions {
  /** Answer the question on an agent's screen, unless it has changed. */
  "agent:answer": {
    params: {
      /** The agent's pane. */
      paneId: string;
      /** The option: its number from 1, its text, or `yes`, `no` or `always`. */
      option: number | string;
      /**
       * Answer only if this question is still on the screen; its id is in the answer of
       * `agent:state`.
       */
      dialogId?: string | null;
    };
    answer: {
      /** The keys that were pressed. */
      pressed: string[];
      /** Whether the question is gone from the screen. */
      answered: boolean;
      /** The agent's current state. */
      agent: AgentInfo;
    };
  };
  /** Cancel a message to an agent while it is queued. Its outcome is then `refused`; one that is being typed, or was, is not cancelled. */
  "agent:cancel": {
    params: {
      /** The agent's pane. */
      paneId: string;
      /** The message, as `agent:message` has named it. */
      messageId: string;
    };
    answer: {
      /** The message, of which nothing was typed. */
      messageId: string;
    };
  };
  /** Close idle agents that no client is watching. Busy, blocked and persistent agents are never closed. */
  "agent:cleanup": {
    params: {
      /** Only agents that have been idle for this many milliseconds; defaults to all idle agents. */
      idleMs?: number;
    };
    answer: {
      /** The panes that were closed. */
      closed: string[];
      /** The agents that were not closed. */
      kept: SkippedAgent[];
    };
  };
  /** Start an agent in a new pane and wait until it accepts a prompt. */
  "agent:create": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & ({
      profile: any;
    } | {
      argv: any;
    }) & ({
      /**
       * The agent program and how to read its screen: `codex`, `opencode`, … `agent:profiles` lists
       * all profiles.
       */
      profile?: string | null;
      /**
       * The program and its arguments, instead of those of the profile. Without a matching profile,
       * only the program's hooks report its state.
       */
      argv?: string[] | null;
      /** The model: a name or alias that the program accepts. */
      model?: string | null;
      /** Whether it asks before it acts; defaults to `ask`, or to what `argv` specifies. */
      permissions?: "ask" | "auto" | null;
      /** The first prompt. */
      prompt?: string | null;
      /** Whether to wait until it accepts a prompt, or asks a question. */
      waitReady?: boolean;
      /** The time limit of that wait in milliseconds: defaults to 60000, up to 600000. */
      timeoutMs?: number | null;
      /**
       * Whether questions at its start (is this folder trusted?) are answered as its profile
       * specifies.
       */
      trust?: boolean;
      /** Whether it is restarted, in a new pane, when it fails. */
      restart?: "never" | "on-failure";
      /** A git worktree to work in. It is removed when the agent exits, if no work would be lost. */
      worktree?: boolean | {
        /** The branch, which is created if it does not exist; defaults to a new name. */
        branch?: string | null;
        /** The start point of a new branch; defaults to the commit that is checked out in `cwd`. */
        base?: string | null;
      } | null;
      /** The id of its pane; generated when omitted. */
      id?: string | null;
      /** The absolute path of its working directory; defaults to the user's home. */
      cwd?: string | null;
      /**
       * Variables to add to the server's environment, or the whole environment if `inheritEnv` is
       * false.
       */
      env?: Record<string, string>;
      /** Whether it inherits the server's environment; defaults to true. */
      inheritEnv?: boolean | null;
      /** Its file mode creation mask in octal, as in `022`; defaults to the server's. */
      umask?: string | null;
      /** The size of its terminal; defaults to 120 columns and 40 rows. */
      size?: {
        /** Columns, 2 to 1000. */
        cols: number;
        /** Rows, 1 to 1000. */
        rows: number;
      } | null;
      /** Its title; defaults to the title that the program sets, or the command. */
      title?: string | null;
      /** Custom data. */
      meta?: Record<string, any>;
      /** Custom labels. */
      tags?: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist?: boolean;
      /**
       * Whether its exit is reported by one `pane:notice` event, with a text for the pane that
       * started it.
       */
      notifyOnExit?: boolean;
      /**
       * How many of its last lines of output are kept, of those that fit into the server's limit of
       * bytes; defaults to the server's limit of lines.
       */
      maxLines?: number | null;
      /**
       * What the token of its program permits besides reading and typing; defaults to what its
       * profile specifies, usually starting panes.
       */
      can?: ("spawn" | "approve")[] | null;
      /**
       * Whether it is shown in tmux. By default it is if `session` or `beside` is set, or if a
       * session follows new panes.
       */
      visible?: "never" | "auto" | "always" | null;
      /**
       * The session to show it in; defaults to the one that follows new panes, or `main`. It is
       * started if it does not exist.
       */
      session?: string | null;
      /** An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
      /** What happens when a user closes the tmux pane; defaults to `close`. */
      onViewClosed?: "close" | "detach" | null;
    });
    answer: {
      /** Its name. */
      id: string;
      /** Distinguishes it from earlier and later panes of its name. */
      instance: string;
      /** Its title: given by a client, set by the program, or the command. */
      title: string;
      /** The program and its arguments. */
      argv: string[];
      /** Its initial working directory. */
      cwd: string;
      /**
       * The program's process id, once it has started. After the program has exited, the id may be
       * reused.
       */
      pid?: number | null;
      /** The size of its terminal. */
      size: Size;
      /**
       * The client that holds that size: only this one can change it, unless another takes the size
       * by force.
       */
      sizeHeldBy?: string | null;
      /** Its status. */
      status: PaneStatus;
      /** Whether it is being killed right now. */
      killing?: boolean;
      /** Its exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it was stopped because of `timeoutSeconds`. */
      timedOut: boolean;
      /** When it was started. */
      createdAt: string;
      /** When it exited. */
      endedAt?: string | null;
      /** What it runs on. */
      substrate: BackendKind;
      /** Where tmux shows it. */
      view?: PaneView | null;
      /** The tmux pane it was adopted from, if paned did not start it. */
      adopted?: TmuxOrigin | null;
      /** How reliable this record is. */
      guarantee: Guarantee;
      /** Custom data. */
      meta: Record<string, any>;
      /** Custom labels. */
      tags: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist: boolean;
      /** The pane it was started from. */
      parent?: string | null;
      /** Its restart policy, if it has one, and its restarts. */
      restart?: PaneRestartInfo | null;
      /** The pane whose previous run this is. */
      previousOf?: string | null;
      /** The number of lines of output so far. */
      lines: number;
      /** The number of bytes of output so far. */
      bytes: number;
      /** How many of these bytes are no longer retained. */
      dropped: number;
      /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
      printedAt?: string | null;
      /**
       * The last line of its output that has any text, cut at 200 characters, without control
       * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
       * and `pane:get`.
       */
      lastLine?: string | null;
      /** How many of its last lines are retained, if that is limited. */
      maxLines?: number | null;
      /** What is wrong with its output file, if that was damaged. */
      damage?: string | null;
      /** The agent's state, if its program is an agent. */
      agent?: AgentInfo | null;
      /**
       * The outcome of the first prompt, as `agent:message` returns it, if it was not passed as an
       * argument of the command.
       */
      prompt?: any;
    };
  };
  /** Explain how an agent's state was determined, with all evidence. */
  "agent:explain": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** What it is doing. */
      agent: AgentInfo;
      /** The evidence for and against that, strongest first. */
      reasons: AgentEvidence[];
      /** Reasons for doubt: the program is newer than its profile, or the profile no longer fits. */
      warnings?: string[];
      /** The agent's input line. */
      composer: ComposerInfo;
      /** The same, as readable text. */
      text: string;
    };
  };
  /** Interrupt an agent's turn and confirm that it has stopped. */
  "agent:interrupt": {
    params: {
      /** The agent's pane. */
      paneId: string;
      /** How long to wait for it to stop, in milliseconds: defaults to 30000, up to 600000. */
      timeoutMs?: number | null;
    };
    answer: {
      /** Whether a turn was interrupted. */
      interrupted: boolean;
      /** The evidence for that, in sentences. */
      evidence: string[];
      /** The agent's current state. */
      agent: AgentInfo;
    };
  };
  /** Show an agent's answer to its last prompt. */
  "agent:last": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** The answer. */
      text: string;
      /** Where the answer was found. */
      source: AnswerSource;
      /** When it was given, if known. */
      at?: string | null;
      /** Whether the text is cut. */
      truncated?: boolean;
    };
  };
  /** List agents, oldest first. */
  "agent:list": {
    params: {
      /** Only agents in this state. */
      state?: "starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown" | null;
      /** Only agents of this profile. */
      profile?: string | null;
    };
    answer: PaneInfo[];
  };
  /** Send an agent a message and report whether it was accepted. It is never typed over a draft or a question. */
  "agent:message": {
    params: {
      /** The agent's pane. */
      paneId: string;
      /** The message: up to 1 MiB of plain text, in any number of lines. */
      text: string;
      /** A unique key: a retry with the same key and text does not type the message again. */
      idempotencyKey?: string | null;
      /** What to do if the agent is busy; defaults to `queue`. */
      whenBusy?: "queue" | "refuse" | "send";
      /** What to wait for; defaults to `submitted`. A queued message is answered at once. */
      wait?: "none" | "submitted" | "done";
      /**
       * How long to wait, in milliseconds: defaults to 65000, or 650000 with `wait` = `done`; up to
       * a day.
       */
      timeoutMs?: number | null;
      /** Whether the agent's answer is sent to the caller's pane when it is done. */
      notify?: boolean;
    };
    answer: {
      /** The outcome. */
      outcome: Delivery;
      /** Its id in events. */
      messageId: string;
      /** The evidence for the outcome, in sentences. */
      evidence: string[];
      /** The question that blocked it, or that its turn is waiting on. */
      dialog?: Dialog | null;
      /** Its position in the queue, counted from 1. */
      position?: number | null;
      /** The agent's answer to this message, if `wait` is `done` and one was found. */
      answer?: string | null;
      /** Where the answer was found. */
      answerSource?: AnswerSource | null;
      /** Whether the wait timed out. */
      timedOut?: boolean;
      /** The agent's current state. */
      agent: AgentInfo;
    };
  };
  /** Show an agent's conversation, as far as its screen and scrollback contain it. */
  "agent:messages": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** The messages, oldest first, as far as they are on the screen or in the scrollback. */
      messages: AgentChatMessage[];
    };
  };
  /** List the agent profiles, and the errors in those that cannot be used. */
  "agent:profiles": {
    params: Record<string, never>;
    answer: {
      /** All profiles, by name. */
      profiles: ProfileSummary[];
      /** The folder of the user's own profiles, `*.toml`. */
      folder?: string | null;
      /** The errors in those that cannot be used. */
      mistakes: ProfileMistakeInfo[];
    };
  };
  /** Export a recording of an agent's recent output, with secrets in its input masked. */
  "agent:record": {
    params: ({
      lastMs?: null;
    } | {
      since?: null;
    }) & {
      /** The pane; it may have ended. */
      paneId: string;
      /**
       * The start time; defaults to the first output that is retained, and for `agent:record` to ten
       * minutes ago.
       */
      since?: string | null;
      /** Only the last N milliseconds. */
      lastMs?: number | null;
    };
    answer: {
      /**
       * The recording, as asciicast v2. Input that was not echoed is masked with a star for each
       * character.
       */
      cast: string;
      /** The agent's detected states, in order of time. */
      states: AgentStateSample[];
      /** When the recording begins. */
      start: string;
      /** Whether a part of the requested span is no longer retained, or exceeds the size limit. */
      truncated: boolean;
    };
  };
  /** Restart an agent in a new pane. The old pane is closed once the new agent accepts a prompt, and is left running if it does not. */
  "agent:restart": {
    params: {
      /** The agent's pane. */
      paneId: string;
      /** The id of the new pane; generated when omitted. */
      newId?: string | null;
      /** Another model for the new agent. */
      model?: string | null;
      /** Whether the new agent asks before it acts. */
      permissions?: "ask" | "auto" | null;
      /** A first prompt for the new agent. */
      prompt?: string | null;
      /**
       * How long to wait until it accepts a prompt, in milliseconds: defaults to 60000, up to
       * 600000.
       */
      timeoutMs?: number | null;
      /** Confirms that the caller may stop the agent it runs in. */
      self?: boolean;
    };
    answer: {
      /** The pane that was closed. */
      old: string;
      /** The pane that replaces it. */
      new: PaneInfo;
    };
  };
  /** Report an agent's state from its own hooks. It is weighed with the evidence on its screen. */
  "agent:set-state": {
    params: {
      /** The pane; defaults to the caller's. */
      paneId?: string | any[] | Record<string, any> | null | boolean | number;
      /** The agent program: the name of a profile. */
      runtime?: any;
      /** The agent's own session id. */
      sessionId?: string | any[] | Record<string, any> | null | boolean | number;
      /** Its status: `running`, `idle`, `error`, or a state of `agent:state`. */
      status?: string | any[] | Record<string, any> | null;
      /** The kind of question it is waiting on: `permission`, `plan`, `question`, … */
      kind?: any;
      /** The error message. */
      error?: any;
      /** The hook's name of the event; `hook_event_name` and `type` are synonyms. */
      event?: any;
      agent?: any;
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its meta before the change. */
      previousMeta: Record<string, any>;
      /** Its meta after the change. */
      meta: Record<string, any>;
      /** Whether they differ. */
      changed: boolean;
    };
  };
  /** Show what an agent is doing. */
  "agent:state": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** The profile that describes its program. */
      profile: string;
      /** Its state. */
      state: AgentState;
      /** The kind of question it is waiting on. */
      kind?: BlockKind | null;
      /** That question. */
      dialog?: Dialog | null;
      /** When its usage limit is lifted, if it shows that. */
      until?: string | null;
      /** Since when it has been in this state. */
      since: string;
      /** The evidence for this state. */
      source: StateSource;
      /** The confidence in this state, 0 to 1. */
      confidence: number;
      /** The percentage of its context that is used, if it shows that. */
      contextPercent?: number | null;
      /** The number of messages queued for it. */
      queued: number;
    };
  };
  /** Wait until an agent reaches a state, finishes its turn or asks a question. */
  "agent:wait": {
    params: ({
      state: any;
    } | {
      done: true;
    } | {
      blocked: true;
    }) & {
      /** The agent's pane. */
      paneId: string;
      /** Until it is in this state, or in one of these. */
      state?: "starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown" | ("starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown")[] | null;
      /** Until the current turn and those of all queued messages are over. */
      done?: boolean;
      /** Until it asks a question. */
      blocked?: boolean;
      /** Time limit in milliseconds: defaults to 30000, up to a day. */
      timeoutMs?: number | null;
    };
    answer: {
      /** What ended the wait; nothing when it timed out or the program exited. */
      met: AgentWaitCondition | null;
      /** Whether it timed out. */
      timedOut: boolean;
      /** The agent's current state. */
      agent: AgentInfo;
      /** Why it was met or not, where that needs an explanation. */
      why?: string[];
    };
  };
  /** Answer an approval: allow or deny a request, or choose an option of an agent's question, unless it has changed. */
  "approval:answer": {
    params: {
      /** The approval. */
      id: string;
      /**
       * `allow` for this one request, `allow-pane` for later ones of the pane that it covers, too,
       * or `deny`; for an agent's question also an option: its number from 1, or its text.
       */
      answer: number | string;
      /** Why it is denied; the caller that asked gets this. */
      reason?: string | null;
    };
    answer: {
      /** The approval as it is now. */
      approval: ApprovalInfo;
      /** The keys that were pressed to answer an agent's question. */
      pressed?: string[] | null;
    };
  };
  /** Delete an answer that holds for a pane: its next request asks again. */
  "approval:forget": {
    params: {
      /** The approval. */
      id: string;
    };
    answer: {
      /** The approval that was answered; `approval:forget` takes this id. */
      id: string;
      /** The pane. */
      paneId: string;
      /** Which of the panes of that name it is. */
      instance: string;
      /** What is allowed. */
      covers: string;
      /** Who answered. */
      by: string;
      /** When. */
      at: string;
    };
  };
  /** Return an approval: what is asked, by whom, and the outcome. */
  "approval:get": {
    params: {
      /** The approval. */
      id: string;
    };
    answer: {
      /** Its id. */
      id: string;
      /** What asks. */
      kind: ApprovalKind;
      /** What has become of it. */
      status: ApprovalStatus;
      /** What is asked, in one line. */
      subject: string;
      /** The action that waits for it; none for an agent's question. */
      action?: string | null;
      /** The caller that asks, as events name it: `pane:ID`, `token:ID`, `ext:NAME` or `owner`. */
      caller: string;
      /** The pane that asks. */
      paneId?: string | null;
      /** Which of the panes of that name it is. */
      instance?: string | null;
      /** The rule that asks, as it is written in its file. */
      rule?: string | null;
      /** What an answer for this pane would cover; without it, only this request can be allowed. */
      covers?: string | null;
      /**
       * The request without its secrets: for an action its parameters, for an agent's question the
       * text on its screen. Long texts are cut, and say so.
       */
      details?: any;
      /** The options of an agent's question. */
      options?: ApprovalOption[];
      /** When it was asked. */
      askedAt: string;
      /** When it expires; an agent's question stays as long as it is on the screen. */
      expiresAt?: string | null;
      /**
       * Whether its caller is waiting for the answer. A caller that no longer waits gets the answer
       * when it sends the same request again.
       */
      waiting: boolean;
      /** The answer. */
      answer?: ApprovalAnswer | null;
    };
  };
  /** List the approvals that wait for an answer, agents' questions included. */
  "approval:list": {
    params: {
      /** Only those that this pane asks for. */
      paneId?: string | null;
      /** Whether to list the last ones that have ended, too. */
      ended?: boolean;
    };
    answer: {
      /** The approvals, oldest first. */
      approvals: ApprovalInfo[];
      /** The answers that hold for a pane until its program ends. */
      remembered: PaneAnswer[];
    };
  };
  /** List who changed what, and what allowed it: calls of actions and approvals, without their contents. */
  "audit:list": {
    params: {
      /** Records after the one with this id, oldest first; without it, the newest ones. */
      after?: number | null;
      /** Records before the one with this id. */
      before?: number | null;
      /** Records from this time on. */
      since?: string | null;
      /** Records of this caller: `owner`, `pane:ID`, `token:ID` or `ext:NAME`. */
      caller?: string | null;
      /** Records about this pane, or of calls from it. */
      paneId?: string | null;
      /** Records of this action, or of those whose names begin as it does before a `*`. */
      action?: string | null;
      /** How many at most, 1 to 1000; 100 when omitted. */
      limit?: number | null;
    };
    answer: {
      /** The records, oldest first. */
      records: AuditRecord[];
      /** Everything up to this event was looked at: `after` of the next request. */
      seen: number;
      /** Whether there may be more records in that direction. */
      more: boolean;
    };
  };
  /** Record a custom event. */
  "event:emit": {
    params: {
      /**
       * `noun:past`, as in `build:finished`; the names of events that paned records itself are
       * refused.
       */
      name: string;
      /** The event's data. */
      payload?: any;
    };
    answer: {
      /** The event. */
      id: number;
    };
  };
  /** List past events, newest page first: the same events that the caller would see in the stream. */
  "event:list": {
    params: {
      /**
       * The events to list, as for `GET /events`: names, `prefix:*` or `*`, separated by commas; all
       * when omitted.
       */
      include?: string;
      /** Only events about this pane, or of actions on it. */
      paneId?: string | null;
      /** Events before the one with this id; without it, the newest ones. */
      before?: number | null;
      /** How many at most, 1 to 1000; 100 when omitted. */
      limit?: number | null;
    };
    answer: {
      /** The events, oldest first. */
      events: Event[];
      /**
       * `before` of the next request. There may be older events, even if this answer has none. None
       * when everything was looked at.
       */
      before?: number | null;
      /** The first event that is still kept, if older ones are not and the list has reached it. */
      firstAvailable?: number | null;
    };
  };
  /** Show an extension: whether it runs, what it may do, what it offers. */
  "ext:info": {
    params: {
      /** The extension. */
      name: string;
    };
    answer: {
      /** Its name, which is the noun of its actions and events. */
      name: string;
      /** Its version. */
      version?: string | null;
      /** One sentence about it. */
      description?: string | null;
      /** Its folder. */
      folder: string;
      /** Where that folder is, if it is a symbolic link in the extensions folder. */
      link?: string | null;
      /** What kind of program it is; absent if its manifest cannot be read. */
      kind?: "program" | "node" | null;
      /** Whether it runs. */
      status: "starting" | "running" | "restarting" | "failed" | "stopped" | "invalid";
      /** Why it does not run, and what to do. */
      reason?: string | null;
      /** Its process. */
      pid?: number | null;
      /** How often it was restarted since it was started or reloaded. */
      restarts: number;
      /** Whether it is started with the server. */
      enabled: boolean;
      /** What its calls may do. */
      scopes: Scope[];
      /** What its manifest asks for. */
      scopesAsked: Scope[];
      /** Whether actions that it may veto are refused while it does not answer. */
      required: boolean;
      /** How long one event or one veto may take, in milliseconds, if it is not the server's limit. */
      timeoutMs?: number | null;
      /** The events it receives, as patterns. */
      events: string[];
      /** The actions it is asked about before they run, as patterns. */
      veto: string[];
      /** The actions it offers. */
      actions: string[];
      /** The file with its log. */
      log?: string | null;
      /** The dependencies in its `package.json` that are not installed. */
      missing?: string[];
      /** The command that installs them. */
      installCommand?: string | null;
      /** What was left out when it was installed, such as symbolic links. */
      leftOut?: string[];
    };
  };
  /** Install an extension from a git repository or a local folder, and start it. */
  "ext:install": {
    params: {
      /**
       * A git address (`https://…`, `ssh://…`, `file://…` or `git@host:path`), which may end in
       * `#branch` or `#tag`, or the absolute path of a local folder.
       */
      source: string;
      /** The name it must have. It is refused if it has another one. */
      name?: string | null;
      /** The branch or tag to install; the default branch when omitted. */
      rev?: string | null;
      /** Whether an installed extension of that name is replaced. */
      replace?: boolean;
    };
    answer: {
      /** Its name, which is the noun of its actions and events. */
      name: string;
      /** Its version. */
      version?: string | null;
      /** One sentence about it. */
      description?: string | null;
      /** Its folder. */
      folder: string;
      /** Where that folder is, if it is a symbolic link in the extensions folder. */
      link?: string | null;
      /** What kind of program it is; absent if its manifest cannot be read. */
      kind?: "program" | "node" | null;
      /** Whether it runs. */
      status: "starting" | "running" | "restarting" | "failed" | "stopped" | "invalid";
      /** Why it does not run, and what to do. */
      reason?: string | null;
      /** Its process. */
      pid?: number | null;
      /** How often it was restarted since it was started or reloaded. */
      restarts: number;
      /** Whether it is started with the server. */
      enabled: boolean;
      /** What its calls may do. */
      scopes: Scope[];
      /** What its manifest asks for. */
      scopesAsked: Scope[];
      /** Whether actions that it may veto are refused while it does not answer. */
      required: boolean;
      /** How long one event or one veto may take, in milliseconds, if it is not the server's limit. */
      timeoutMs?: number | null;
      /** The events it receives, as patterns. */
      events: string[];
      /** The actions it is asked about before they run, as patterns. */
      veto: string[];
      /** The actions it offers. */
      actions: string[];
      /** The file with its log. */
      log?: string | null;
      /** The dependencies in its `package.json` that are not installed. */
      missing?: string[];
      /** The command that installs them. */
      installCommand?: string | null;
      /** What was left out when it was installed, such as symbolic links. */
      leftOut?: string[];
    };
  };
  /** List the extensions in the extensions folder, and whether they run. */
  "ext:list": {
    params: Record<string, never>;
    answer: ExtensionInfo[];
  };
  /** Read the log of an extension: what it writes to standard error. */
  "ext:logs": {
    params: {
      /** The extension. */
      name: string;
      /** How many of the last lines; 200 when omitted. Ignored with `after`. */
      lines?: number | null;
      /** Read on from here: the `next` of an earlier answer. */
      after?: string | null;
      /** How long to wait for text if there is none, in milliseconds; at most 30000. */
      waitMs?: number | null;
    };
    answer: {
      /** Whole lines. */
      text: string;
      /** Where to read on, for `after`. */
      next: string;
      /** The file. */
      file: string;
    };
  };
  /** Write a new extension to start from, with a test. */
  "ext:new": {
    params: {
      /** Its name. */
      name: string;
      /** The language it is written in. */
      language: "ts" | "js" | "python";
      /**
       * The absolute path of the folder in which its folder is made; the extensions folder when
       * omitted.
       */
      dir?: string | null;
    };
    answer: {
      /** Its name. */
      name: string;
      /** Its folder. */
      folder: string;
      /** The files in it. */
      files: string[];
      /** The command that runs its test, in its folder. */
      testCommand: string;
      /** The extension, if it is in the extensions folder and was started. */
      extension?: ExtensionInfo | null;
    };
  };
  /** Read the folder of an extension again and restart it; all of them without a name. */
  "ext:reload": {
    params: {
      /** The extension; all of them when omitted. */
      name?: string | null;
    };
    answer: ExtensionInfo[];
  };
  /** Stop an extension and delete it. */
  "ext:remove": {
    params: {
      /** The extension. */
      name: string;
      /** Whether its data folder, its log and the user's settings for it are kept. */
      keepData?: boolean;
    };
    answer: {
      /** Its name. */
      name: string;
      /** The folder or link that was deleted. */
      folder: string;
      /** The folder that the link pointed to, which is untouched. */
      link?: string | null;
      /** The data folder, if it was kept. */
      data?: string | null;
    };
  };
  /** Change what an extension may do, or turn it on or off; then restart it. */
  "ext:set": {
    params: ({
      scopes: any[];
      resetScopes?: false;
    } | {
      scopes?: null;
      resetScopes: true;
    } | {
      scopes?: null;
      enabled: boolean;
    }) & {
      /** The extension. */
      name: string;
      /** What its calls may do, in place of what its manifest asks for. */
      scopes?: ("read" | "input" | "spawn" | "kill" | "approve" | "admin")[] | null;
      /** Whether its scopes are again those that its manifest asks for. */
      resetScopes?: boolean;
      /** Whether it runs. */
      enabled?: boolean | null;
    };
    answer: {
      /** Its name, which is the noun of its actions and events. */
      name: string;
      /** Its version. */
      version?: string | null;
      /** One sentence about it. */
      description?: string | null;
      /** Its folder. */
      folder: string;
      /** Where that folder is, if it is a symbolic link in the extensions folder. */
      link?: string | null;
      /** What kind of program it is; absent if its manifest cannot be read. */
      kind?: "program" | "node" | null;
      /** Whether it runs. */
      status: "starting" | "running" | "restarting" | "failed" | "stopped" | "invalid";
      /** Why it does not run, and what to do. */
      reason?: string | null;
      /** Its process. */
      pid?: number | null;
      /** How often it was restarted since it was started or reloaded. */
      restarts: number;
      /** Whether it is started with the server. */
      enabled: boolean;
      /** What its calls may do. */
      scopes: Scope[];
      /** What its manifest asks for. */
      scopesAsked: Scope[];
      /** Whether actions that it may veto are refused while it does not answer. */
      required: boolean;
      /** How long one event or one veto may take, in milliseconds, if it is not the server's limit. */
      timeoutMs?: number | null;
      /** The events it receives, as patterns. */
      events: string[];
      /** The actions it is asked about before they run, as patterns. */
      veto: string[];
      /** The actions it offers. */
      actions: string[];
      /** The file with its log. */
      log?: string | null;
      /** The dependencies in its `package.json` that are not installed. */
      missing?: string[];
      /** The command that installs them. */
      installCommand?: string | null;
      /** What was left out when it was installed, such as symbolic links. */
      leftOut?: string[];
    };
  };
  /** Create a token with scopes over all or some panes. The token is shown only once. */
  "grant:create": {
    params: {
      /** The scopes: what the token permits. */
      scopes: ("read" | "input" | "spawn" | "kill" | "approve" | "admin")[];
      /**
       * The panes it covers, with the panes started from them; defaults to all. They must exist:
       * later panes that reuse their names are not covered.
       */
      panes?: string[] | null;
      /** A label that describes it. */
      label?: string;
      /** How long it is valid; it does not expire when omitted. */
      expiresInSeconds?: number | null;
    };
    answer: {
      /** The token's id, scopes and panes. */
      grant: Grant;
      /** The token, which is shown only once. */
      token: string;
    };
  };
  /** Create a one-use code that signs in a device: `POST /sign-in` exchanges it for a token. The code is shown only once. */
  "grant:create-code": {
    params: {
      /** The scopes of the device's token. */
      scopes: ("read" | "input" | "spawn" | "kill" | "approve" | "admin")[];
      /** The panes that it covers, as for `grant:create`; defaults to all. */
      panes?: string[] | null;
      /** A label for the device; when empty, the device chooses one. */
      label?: string;
      /** How long the device stays signed in; 30 days when omitted. */
      expiresInSeconds?: number;
      /** How long the code is good for; 60 when omitted. */
      codeExpiresInSeconds?: number;
    };
    answer: {
      /** The code, which is shown only once. */
      code: string;
      /** Until when it is good. */
      codeExpiresAt: string;
    };
  };
  /** List the active tokens by id and label. The tokens themselves are never shown. */
  "grant:list": {
    params: Record<string, never>;
    answer: Grant[];
  };
  /** Revoke a token. Clients that use it are disconnected within a second. */
  "grant:revoke": {
    params: {
      /** The id that `grant:list` shows, or the token itself, which is never recorded in an event. */
      id: string;
    };
    answer: {
      /** The id of the revoked token. */
      id: string;
    };
  };
  /** Arrange the panes of a tmux window in a saved layout. */
  "layout:apply": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & ({
      name: any;
    } & {
      toml?: null;
    } | {
      toml: any;
    } & {
      name?: null;
    }) & {
      /** The name of a saved layout. */
      name?: string | null;
      /** A layout in TOML, as `layout:save` writes it. */
      toml?: string | null;
      /** The session on paned's own tmux server; defaults to `main`. */
      session?: string | null;
      /** An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
    };
    answer: {
      /** Its size in character cells. */
      size: Size;
      /** Whether it is zoomed: one pane covers the others. */
      zoomed: boolean;
      /** How many agent panes it can hold. */
      capacity: number;
      /** Its layout in tmux's format; only for tokens that cover all panes. */
      layout?: string | null;
      /** Its panes, of those that the token covers. */
      panes: LayoutGetPane[];
    };
  };
  /** Show a tmux window: the positions and owners of its panes. */
  "layout:get": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & {
      /** The session on paned's own tmux server; defaults to `main`. */
      session?: string | null;
      /** An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
    };
    answer: {
      /** Its size in character cells. */
      size: Size;
      /** Whether it is zoomed: one pane covers the others. */
      zoomed: boolean;
      /** How many agent panes it can hold. */
      capacity: number;
      /** Its layout in tmux's format; only for tokens that cover all panes. */
      layout?: string | null;
      /** Its panes, of those that the token covers. */
      panes: LayoutGetPane[];
    };
  };
  /** Hide a pane in tmux; its program keeps running. */
  "layout:hide": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: Record<string, any>;
  };
  /** Show a pane in tmux: in a paned session, or beside an existing tmux pane. */
  "layout:place": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & {
      /** The pane to show. */
      paneId: string;
      /**
       * The session on paned's own tmux server; defaults to `main`. It is started if it does not
       * exist.
       */
      session?: string | null;
      /** An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
      /**
       * What happens when a user closes the tmux pane. By default the pane keeps running hidden,
       * unless it was created for that session.
       */
      onViewClosed?: "close" | "detach" | null;
      /** Whether it may replace a pane that has finished. */
      replace?: boolean;
      /**
       * Whether it waits when the window has no room for it; with `false` it stays hidden. By
       * default it waits if the request comes from an agent, and gets its own tmux window otherwise.
       */
      wait?: boolean | null;
    };
    answer: {
      /** The pane. */
      id: string;
      /** Whether it is visible. */
      state: ViewState;
      /** The session on paned's own tmux server that it belongs to. */
      session?: string | null;
      /** The tmux pane that shows it. */
      tmuxPane?: string | null;
      /** The number of its own tmux window, if it is not beside other panes. */
      window?: number | null;
      /** Why it is not visible. */
      reason?: string | null;
    };
  };
  /** Show where panes would be placed in tmux and why, without placing them. */
  "layout:plan": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & {
      /** The ids of the panes to place, one after the other; they need not exist yet. */
      panes: string[];
      /** The session on paned's own tmux server; defaults to `main`. */
      session?: string | null;
      /** An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
      /** Whether panes that have finished may be replaced. */
      replace?: boolean;
      /** Whether they wait when the window has no room for them, as for `layout:place`. */
      wait?: boolean | null;
    };
    answer: {
      /**
       * The decision for each pane, in order: `spawn`, `replace`, `window`, `defer` or `skip`, with
       * the target or the reason.
       */
      decisions: LayoutPlanDecision[];
    };
  };
  /** Save the layout of a tmux window under a name. */
  "layout:save": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & {
      /** The layout's name: letters, digits, `_` and `-`. */
      name: string;
      /** The session on paned's own tmux server; defaults to `main`. */
      session?: string | null;
      /** An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
    };
    answer: {
      /** The path of the saved file. */
      file: string;
      /** The content of the file. */
      toml: string;
    };
  };
  /** List the rules for notifications, and what is wrong with them. */
  "notify:list": {
    params: Record<string, never>;
    answer: NotifyRuleInfo[];
  };
  /** Send a test notification through the channels of one or every rule. */
  "notify:test": {
    params: {
      /** The rule; defaults to all. */
      rule?: string | null;
    };
    answer: NotifyTestResult[];
  };
  /** Focus a pane in tmux, if it is shown there. */
  "pane:activate": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: Record<string, any>;
  };
  /** Adopt a pane of an existing tmux server: record its output and type into it. `pane:close` releases it without stopping its program. */
  "pane:adopt": {
    params: {
      /** The tmux server: `$TMUX`, or the path of its socket. `tmux:list` lists the servers. */
      tmux: string;
      /** The tmux pane: `$TMUX_PANE`, as in `%3`. */
      pane: string;
      /** Its id in paned; generated when omitted. */
      id?: string | null;
      /** Its title; defaults to the title that the program sets, or its command. */
      title?: string | null;
      /** The agent profile, if its program is an agent that is not recognized by its command. */
      profile?: string | null;
      /** Custom data. */
      meta?: Record<string, any>;
      /** Custom labels. */
      tags?: string[];
    };
    answer: {
      /** Its name. */
      id: string;
      /** Distinguishes it from earlier and later panes of its name. */
      instance: string;
      /** Its title: given by a client, set by the program, or the command. */
      title: string;
      /** The program and its arguments. */
      argv: string[];
      /** Its initial working directory. */
      cwd: string;
      /**
       * The program's process id, once it has started. After the program has exited, the id may be
       * reused.
       */
      pid?: number | null;
      /** The size of its terminal. */
      size: Size;
      /**
       * The client that holds that size: only this one can change it, unless another takes the size
       * by force.
       */
      sizeHeldBy?: string | null;
      /** Its status. */
      status: PaneStatus;
      /** Whether it is being killed right now. */
      killing?: boolean;
      /** Its exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it was stopped because of `timeoutSeconds`. */
      timedOut: boolean;
      /** When it was started. */
      createdAt: string;
      /** When it exited. */
      endedAt?: string | null;
      /** What it runs on. */
      substrate: BackendKind;
      /** Where tmux shows it. */
      view?: PaneView | null;
      /** The tmux pane it was adopted from, if paned did not start it. */
      adopted?: TmuxOrigin | null;
      /** How reliable this record is. */
      guarantee: Guarantee;
      /** Custom data. */
      meta: Record<string, any>;
      /** Custom labels. */
      tags: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist: boolean;
      /** The pane it was started from. */
      parent?: string | null;
      /** Its restart policy, if it has one, and its restarts. */
      restart?: PaneRestartInfo | null;
      /** The pane whose previous run this is. */
      previousOf?: string | null;
      /** The number of lines of output so far. */
      lines: number;
      /** The number of bytes of output so far. */
      bytes: number;
      /** How many of these bytes are no longer retained. */
      dropped: number;
      /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
      printedAt?: string | null;
      /**
       * The last line of its output that has any text, cut at 200 characters, without control
       * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
       * and `pane:get`.
       */
      lastLine?: string | null;
      /** How many of its last lines are retained, if that is limited. */
      maxLines?: number | null;
      /** What is wrong with its output file, if that was damaged. */
      damage?: string | null;
      /** The agent's state, if its program is an agent. */
      agent?: AgentInfo | null;
    };
  };
  /** Stop a pane's program and delete the pane with its output. An adopted pane is released, and its program keeps running. */
  "pane:close": {
    params: {
      /** The pane. */
      paneId: string;
      /**
       * Kill it at once, even if its keeper does not respond, and delete it even if some of its
       * processes cannot be stopped.
       */
      force?: boolean;
      /** Confirms that the caller may stop the pane it runs in. */
      self?: boolean;
    };
    answer: {
      /** Processes that could not be stopped. */
      survivors?: Survivor[];
    };
  };
  /** Remove entries of a pane's meta. */
  "pane:delete-meta": {
    params: {
      /** The pane. */
      paneId: string;
      /** The keys to remove; missing ones are ignored. */
      keys: string[];
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its meta before the change. */
      previousMeta: Record<string, any>;
      /** Its meta after the change. */
      meta: Record<string, any>;
      /** Whether they differ. */
      changed: boolean;
    };
  };
  /** Show one pane. */
  "pane:get": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** Its name. */
      id: string;
      /** Distinguishes it from earlier and later panes of its name. */
      instance: string;
      /** Its title: given by a client, set by the program, or the command. */
      title: string;
      /** The program and its arguments. */
      argv: string[];
      /** Its initial working directory. */
      cwd: string;
      /**
       * The program's process id, once it has started. After the program has exited, the id may be
       * reused.
       */
      pid?: number | null;
      /** The size of its terminal. */
      size: Size;
      /**
       * The client that holds that size: only this one can change it, unless another takes the size
       * by force.
       */
      sizeHeldBy?: string | null;
      /** Its status. */
      status: PaneStatus;
      /** Whether it is being killed right now. */
      killing?: boolean;
      /** Its exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it was stopped because of `timeoutSeconds`. */
      timedOut: boolean;
      /** When it was started. */
      createdAt: string;
      /** When it exited. */
      endedAt?: string | null;
      /** What it runs on. */
      substrate: BackendKind;
      /** Where tmux shows it. */
      view?: PaneView | null;
      /** The tmux pane it was adopted from, if paned did not start it. */
      adopted?: TmuxOrigin | null;
      /** How reliable this record is. */
      guarantee: Guarantee;
      /** Custom data. */
      meta: Record<string, any>;
      /** Custom labels. */
      tags: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist: boolean;
      /** The pane it was started from. */
      parent?: string | null;
      /** Its restart policy, if it has one, and its restarts. */
      restart?: PaneRestartInfo | null;
      /** The pane whose previous run this is. */
      previousOf?: string | null;
      /** The number of lines of output so far. */
      lines: number;
      /** The number of bytes of output so far. */
      bytes: number;
      /** How many of these bytes are no longer retained. */
      dropped: number;
      /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
      printedAt?: string | null;
      /**
       * The last line of its output that has any text, cut at 200 characters, without control
       * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
       * and `pane:get`.
       */
      lastLine?: string | null;
      /** How many of its last lines are retained, if that is limited. */
      maxLines?: number | null;
      /** What is wrong with its output file, if that was damaged. */
      damage?: string | null;
      /** The agent's state, if its program is an agent. */
      agent?: AgentInfo | null;
    };
  };
  /** Show a pane's meta. */
  "pane:get-meta": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its meta. */
      meta: Record<string, any>;
    };
  };
  /** Press keys by name, encoded for the terminal's current modes. */
  "pane:keys": {
    params: {
      /** The pane. */
      paneId: string;
      /** Keys by name: `enter`, `ctrl+c`, `shift+tab`, `alt+x`, `up`, `f5`, `kp_enter`, `a`. */
      keys: string[];
      /** How many times to repeat the whole sequence. */
      repeat?: number;
    };
    answer: {
      /** The number of bytes typed, encoded for the terminal's modes. */
      bytes: number;
      /** A warning if the program may not receive all of it. */
      warning?: string | null;
    };
  };
  /** Stop a pane's program and all its child processes. The pane and its output stay readable. */
  "pane:kill": {
    params: {
      /** The pane. */
      paneId: string;
      /** How long the program may take to exit, in milliseconds, before it is killed. */
      graceMs?: number | null;
      /** Kill it at once. If its keeper does not respond, the keeper is killed as well. */
      force?: boolean;
      /** Confirms that the caller may stop the pane it runs in. */
      self?: boolean;
    };
    answer: {
      /** The pane. It stays readable until it is deleted. */
      id: string;
      /** `killed` only if every process of it is gone. */
      status: PaneStatus;
      /** The program's exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated the program, if any. */
      exitSignal?: string | null;
      /** Whether its restart policy was about to start it again, which is cancelled. */
      restartCancelled?: boolean;
      /** Processes that could not be stopped. */
      survivors: Survivor[];
    };
  };
  /** List panes, oldest first. */
  "pane:list": {
    params: {
      /** Only panes with this tag. */
      tag?: string | null;
      /** Only panes in this status. */
      status?: "starting" | "running" | "exited" | "killed" | "lost" | null;
      /** Only agents in this state. */
      agentState?: "starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown" | null;
      /** Only panes whose meta contains all of this. */
      meta?: Record<string, any>;
    };
    answer: PaneInfo[];
  };
  /** Show when a pane printed how much, and what happened to it when: what a replay needs. `pane:screen` with `at` has the screen of a moment. */
  "pane:marks": {
    params: {
      /** The pane, living or ended. */
      paneId: string;
      /** Into how many spans of time its output is divided at most, 1 to 2000; 300 when omitted. */
      spans?: number | null;
    };
    answer: {
      /** The first offset that is kept. */
      first: number;
      /** The offset after the last byte. */
      end: number;
      /** When the first byte that is kept was printed; none without output. */
      firstTime?: string | null;
      /** When the last byte was printed. */
      endTime?: string | null;
      /** The length of a span, in milliseconds: at least 100, which is how exact times are. */
      spanMs: number;
      /** The spans in which it printed, in order. */
      output: MarkedOutput[];
      /** The sizes of its terminal, as far as they are known, in order. */
      sizes: MarkedSize[];
      /** What happened to it, in order. */
      marks: PaneMark[];
      /** If there may be older marks: `before` of a request of `event:list` for them. */
      before?: number | null;
    };
  };
  /** Start a program in a new pane. */
  "pane:new": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & ({
      /** Its id; generated when omitted. */
      id?: string | null;
      /**
       * Whether it replaces a pane of the same id, which is stopped and deleted. If the new one
       * cannot be started, the old one keeps its id and its output.
       */
      replace?: boolean;
      /** Confirms that `replace` may stop the pane that the caller runs in. */
      self?: boolean;
      /**
       * Whether its program is restarted when it exits: `no`, `on-failure`, `on-failure:5` (at most
       * five times in a row) or `always`. The delay grows from one second to one minute.
       */
      restart?: string;
      /** The program and its arguments; defaults to the user's login shell. */
      argv?: string[] | null;
      /** The absolute path of its working directory; defaults to the user's home. */
      cwd?: string | null;
      /**
       * Variables to add to the server's environment, or the whole environment if `inheritEnv` is
       * false.
       */
      env?: Record<string, string>;
      /** Whether it inherits the server's environment; defaults to true. */
      inheritEnv?: boolean | null;
      /** Its file mode creation mask in octal, as in `022`; defaults to the server's. */
      umask?: string | null;
      /** The size of its terminal; defaults to 80 columns and 24 rows. */
      size?: {
        /** Columns, 2 to 1000. */
        cols: number;
        /** Rows, 1 to 1000. */
        rows: number;
      } | null;
      /** Its title; defaults to the title that the program sets, or the command. */
      title?: string | null;
      /** Custom data. */
      meta?: Record<string, any>;
      /** Custom labels. */
      tags?: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist?: boolean;
      /**
       * Whether its exit is reported by one `pane:notice` event, with a text for the pane that
       * started it.
       */
      notifyOnExit?: boolean;
      /** The format of that notice. */
      notice?: {
        /** The tags and wording it uses. */
        words?: "pane" | "pty";
        /** A description of the pane, which is added to the notice. */
        description?: string | null;
        /** The session of another program that the notice is for; it is in the event. */
        recipient?: {
          /** Its id there. */
          sessionId: string;
          /** The agent in it that is to answer. */
          agent?: string | null;
        } | null;
      };
      /** What it runs on: `tmux` is the same as `pty`, and shown in tmux. */
      substrate?: "pty" | "tmux";
      /**
       * Whether it is shown in tmux. By default it is if `session` or `beside` is set, or if a
       * session follows new panes.
       */
      visible?: "never" | "auto" | "always" | null;
      /**
       * The session to show it in; defaults to the one that follows new panes, or `main`. It is
       * started if it does not exist.
       */
      session?: string | null;
      /** An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
      /** What happens when a user closes the tmux pane; defaults to `close`. */
      onViewClosed?: "close" | "detach" | null;
      /**
       * Whether it waits when the window has no room for it; with `false` it stays hidden. By
       * default it waits if the request comes from an agent, and gets its own tmux window otherwise.
       */
      wait?: boolean | null;
      /**
       * Whether a client will read its output directly from its keeper, as `paned run` does: the
       * program is then paused while that client is slow, so that no output is dropped.
       */
      followed?: boolean;
      /**
       * Whether the client pipes input into it, as `paned run` does: its terminal then has no echo,
       * and only `^D` and `^V` in the input have a meaning.
       */
      pipedInput?: boolean;
      /**
       * How many of its last lines of output are kept, of those that fit into the server's limit of
       * bytes; defaults to the server's limit of lines.
       */
      maxLines?: number | null;
      /** Stop it after this many seconds. */
      timeoutSeconds?: number | null;
      /**
       * What the token of its program permits besides reading and typing into this pane and those
       * started from it; defaults to nothing, or to what an agent's profile specifies.
       */
      can?: ("spawn" | "approve")[] | null;
    });
    answer: {
      /** Its name. */
      id: string;
      /** Distinguishes it from earlier and later panes of its name. */
      instance: string;
      /** Its title: given by a client, set by the program, or the command. */
      title: string;
      /** The program and its arguments. */
      argv: string[];
      /** Its initial working directory. */
      cwd: string;
      /**
       * The program's process id, once it has started. After the program has exited, the id may be
       * reused.
       */
      pid?: number | null;
      /** The size of its terminal. */
      size: Size;
      /**
       * The client that holds that size: only this one can change it, unless another takes the size
       * by force.
       */
      sizeHeldBy?: string | null;
      /** Its status. */
      status: PaneStatus;
      /** Whether it is being killed right now. */
      killing?: boolean;
      /** Its exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it was stopped because of `timeoutSeconds`. */
      timedOut: boolean;
      /** When it was started. */
      createdAt: string;
      /** When it exited. */
      endedAt?: string | null;
      /** What it runs on. */
      substrate: BackendKind;
      /** Where tmux shows it. */
      view?: PaneView | null;
      /** The tmux pane it was adopted from, if paned did not start it. */
      adopted?: TmuxOrigin | null;
      /** How reliable this record is. */
      guarantee: Guarantee;
      /** Custom data. */
      meta: Record<string, any>;
      /** Custom labels. */
      tags: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist: boolean;
      /** The pane it was started from. */
      parent?: string | null;
      /** Its restart policy, if it has one, and its restarts. */
      restart?: PaneRestartInfo | null;
      /** The pane whose previous run this is. */
      previousOf?: string | null;
      /** The number of lines of output so far. */
      lines: number;
      /** The number of bytes of output so far. */
      bytes: number;
      /** How many of these bytes are no longer retained. */
      dropped: number;
      /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
      printedAt?: string | null;
      /**
       * The last line of its output that has any text, cut at 200 characters, without control
       * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
       * and `pane:get`.
       */
      lastLine?: string | null;
      /** How many of its last lines are retained, if that is limited. */
      maxLines?: number | null;
      /** What is wrong with its output file, if that was damaged. */
      damage?: string | null;
      /** The agent's state, if its program is an agent. */
      agent?: AgentInfo | null;
    };
  };
  /** Paste text as a terminal does, bracketed if the program enabled bracketed paste. */
  "pane:paste": {
    params: {
      /** The pane. */
      paneId: string;
      /** The text to paste. */
      text: string;
      /**
       * Whether to press Enter afterwards, encoded for the terminal's modes. No other input can come
       * in between.
       */
      submit?: boolean;
    };
    answer: {
      /** The number of bytes typed, including Enter. */
      bytes: number;
      /** Whether the paste was bracketed, because the program had enabled it. */
      bracketed: boolean;
      /** A warning if the program may not receive all of it. */
      warning?: string | null;
    };
  };
  /** Delete the panes that have ended, with their output. */
  "pane:prune": {
    params: {
      /** Only panes that ended at least this many milliseconds ago. */
      olderMs?: number;
      /** Only panes with this tag. */
      tag?: string | null;
      /** Only report what would be deleted. */
      dryRun?: boolean;
    };
    answer: {
      /** The panes that were deleted, oldest first. */
      removed: PrunedPane[];
      /** Panes that have ended and could not be deleted. */
      kept: UnprunedPane[];
      /** How many bytes of output were deleted. */
      bytes: number;
    };
  };
  /** Read a pane's output as lines, as bytes, or as rows of the terminal. */
  "pane:read": {
    params: ({
      tail?: null;
      since?: null;
      sinceTime?: null;
    } | {
      offset?: null;
      since?: null;
      sinceTime?: null;
    } | {
      offset?: null;
      tail?: null;
      sinceTime?: null;
    } | {
      offset?: null;
      tail?: null;
      since?: null;
    }) & ({
      view?: "lines";
    } & {
      times?: false;
    } & {
      limit?: any;
    } & ({
      pattern: any;
    } | {
      before?: any;
      after?: any;
    }) | ({
      view?: "raw";
    } & any) & ({
      pattern?: null;
    } & {
      before?: any;
      after?: any;
    }) | ({
      view?: "rendered";
    } & any) & {
      times?: false;
    } & {
      limit?: any;
    } & ({
      pattern?: null;
    } & {
      before?: any;
      after?: any;
    }) & {
      since?: null;
      sinceTime?: null;
    }) & {
      /** The pane. */
      paneId: string;
      /** The format of the output. */
      view?: "lines" | "raw" | "rendered";
      /**
       * The first line, counted from 0 at the pane's first line ever; for `raw`, the first byte; for
       * `rendered`, the first row, counted from 0 at the first that ever scrolled off, or, if
       * `dropped` is null, at the first that is still available.
       */
      offset?: number | null;
      /**
       * The maximum number of lines or matches: defaults to `tail` or 500, up to 10000; for `raw`,
       * of bytes: defaults to `tail` or 65536, up to 1048576; for `rendered` without `offset`, the
       * number of last rows. 0 returns the counts only.
       */
      limit?: number | null;
      /**
       * Only the last N lines or matches; for `raw`, bytes. If that exceeds the limit or 1 MiB of
       * text, the last of them are returned, and `truncated` is true.
       */
      tail?: number | null;
      /**
       * Only output after this offset: `next` of an earlier answer. Not for `rendered`. Lines are
       * returned whole: a line that continues after this offset is returned from its beginning, with
       * `continued`, unless only its line end is new.
       */
      since?: number | null;
      /** Only what was printed at this time or later, from a line's start on. Not for `rendered`. */
      sinceTime?: string | null;
      /** Whether to say when the bytes were printed, for `raw`. */
      times?: boolean;
      /** Only lines that match this regular expression, anywhere in their first 262144 characters. */
      pattern?: string | null;
      /** Whether to ignore case. */
      ignoreCase?: boolean;
      /** Also return N lines before each match. With `since`, this includes lines before that offset. */
      before?: number;
      /**
       * Also return N lines after each match. With `since`, this includes those of a match before
       * that offset.
       */
      after?: number;
    };
    answer: {
      /** The lines, for `lines` and `rendered`. */
      lines?: OutputLine[] | null;
      /** The bytes as text, for `raw`, if they are UTF-8. */
      raw?: string | null;
      /** The bytes as base64, for `raw`, if they are not. */
      base64?: string | null;
      /** The `since` of the next call; after `rendered`, for another view, or for `pane:wait`. */
      next: number;
      /**
       * The number of lines so far; for `raw`, of bytes; for `rendered`, of rows ever, or, if
       * `dropped` is null, of available rows.
       */
      total: number;
      /**
       * How many of them are no longer retained; for `rendered`, null if unknown: half a MiB of
       * output or more was printed, or the terminal's width changed after rows were dropped.
       */
      dropped: number | null;
      /** Whether the limit cut the result. */
      truncated: boolean;
      /** Output after `since` that is no longer retained, as byte offsets. */
      gap?: LostRange | null;
      /** When the bytes were printed, to a tenth of a second, for `raw` with `times`. */
      times?: PrintedAt[] | null;
    };
  };
  /** Make a recording of what a pane has printed, with the times at which it did. */
  "pane:record": {
    params: ({
      lastMs?: null;
    } | {
      since?: null;
    }) & {
      /** The pane; it may have ended. */
      paneId: string;
      /**
       * The start time; defaults to the first output that is retained, and for `agent:record` to ten
       * minutes ago.
       */
      since?: string | null;
      /** Only the last N milliseconds. */
      lastMs?: number | null;
    };
    answer: {
      /** The recording, as asciicast v2: what the program printed, and the sizes of its terminal. */
      cast: string;
      /** When the recording begins. */
      start: string;
      /** Whether some of the requested span is no longer kept, or exceeds the size limit. */
      truncated: boolean;
    };
  };
  /** Release the size of a pane that this client holds on its persistent connection. The size stays as it is until another client sets it. */
  "pane:release": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: {
      /** The pane. */
      id: string;
      /** Whether this client held its size until now. */
      released: boolean;
    };
  };
  /** Delete a finished pane and its output. */
  "pane:remove": {
    params: {
      /** The pane. */
      paneId: string;
    };
    answer: Record<string, any>;
  };
  /** Change a pane's title. */
  "pane:rename": {
    params: {
      /** The pane. */
      paneId: string;
      /** The new title; titles that the program sets are ignored from then on. */
      title: string;
    };
    answer: {
      /** Its name. */
      id: string;
      /** Distinguishes it from earlier and later panes of its name. */
      instance: string;
      /** Its title: given by a client, set by the program, or the command. */
      title: string;
      /** The program and its arguments. */
      argv: string[];
      /** Its initial working directory. */
      cwd: string;
      /**
       * The program's process id, once it has started. After the program has exited, the id may be
       * reused.
       */
      pid?: number | null;
      /** The size of its terminal. */
      size: Size;
      /**
       * The client that holds that size: only this one can change it, unless another takes the size
       * by force.
       */
      sizeHeldBy?: string | null;
      /** Its status. */
      status: PaneStatus;
      /** Whether it is being killed right now. */
      killing?: boolean;
      /** Its exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it was stopped because of `timeoutSeconds`. */
      timedOut: boolean;
      /** When it was started. */
      createdAt: string;
      /** When it exited. */
      endedAt?: string | null;
      /** What it runs on. */
      substrate: BackendKind;
      /** Where tmux shows it. */
      view?: PaneView | null;
      /** The tmux pane it was adopted from, if paned did not start it. */
      adopted?: TmuxOrigin | null;
      /** How reliable this record is. */
      guarantee: Guarantee;
      /** Custom data. */
      meta: Record<string, any>;
      /** Custom labels. */
      tags: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist: boolean;
      /** The pane it was started from. */
      parent?: string | null;
      /** Its restart policy, if it has one, and its restarts. */
      restart?: PaneRestartInfo | null;
      /** The pane whose previous run this is. */
      previousOf?: string | null;
      /** The number of lines of output so far. */
      lines: number;
      /** The number of bytes of output so far. */
      bytes: number;
      /** How many of these bytes are no longer retained. */
      dropped: number;
      /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
      printedAt?: string | null;
      /**
       * The last line of its output that has any text, cut at 200 characters, without control
       * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
       * and `pane:get`.
       */
      lastLine?: string | null;
      /** How many of its last lines are retained, if that is limited. */
      maxLines?: number | null;
      /** What is wrong with its output file, if that was damaged. */
      damage?: string | null;
      /** The agent's state, if its program is an agent. */
      agent?: AgentInfo | null;
    };
  };
  /** Set the size of a pane's terminal. A client with a persistent connection holds the size until it disconnects. */
  "pane:resize": {
    params: {
      /** The pane. */
      paneId: string;
      /** Its new size. */
      size: {
        /** Columns, 2 to 1000. */
        cols: number;
        /** Rows, 1 to 1000. */
        rows: number;
      };
      /** Whether to take the size from the client that holds it. */
      force?: boolean;
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its size now. */
      size: Size;
      /** Whether the size changed. */
      changed: boolean;
    };
  };
  /** End a pane's program if it runs, and start it again as it was started, under the same name. The output so far stays readable as `<name>.previous`. */
  "pane:restart": {
    params: {
      /** The pane. */
      paneId: string;
      /**
       * How long a running program may take to exit when asked, in milliseconds, before it is
       * killed.
       */
      graceMs?: number | null;
      /** End a running program at once, and without its keeper if that does not answer. */
      force?: boolean;
      /** Confirms that the caller may end the pane it runs in. */
      self?: boolean;
    };
    answer: {
      /** Its name. */
      id: string;
      /** Distinguishes it from earlier and later panes of its name. */
      instance: string;
      /** Its title: given by a client, set by the program, or the command. */
      title: string;
      /** The program and its arguments. */
      argv: string[];
      /** Its initial working directory. */
      cwd: string;
      /**
       * The program's process id, once it has started. After the program has exited, the id may be
       * reused.
       */
      pid?: number | null;
      /** The size of its terminal. */
      size: Size;
      /**
       * The client that holds that size: only this one can change it, unless another takes the size
       * by force.
       */
      sizeHeldBy?: string | null;
      /** Its status. */
      status: PaneStatus;
      /** Whether it is being killed right now. */
      killing?: boolean;
      /** Its exit code, if it exited by itself. */
      exitCode?: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it was stopped because of `timeoutSeconds`. */
      timedOut: boolean;
      /** When it was started. */
      createdAt: string;
      /** When it exited. */
      endedAt?: string | null;
      /** What it runs on. */
      substrate: BackendKind;
      /** Where tmux shows it. */
      view?: PaneView | null;
      /** The tmux pane it was adopted from, if paned did not start it. */
      adopted?: TmuxOrigin | null;
      /** How reliable this record is. */
      guarantee: Guarantee;
      /** Custom data. */
      meta: Record<string, any>;
      /** Custom labels. */
      tags: string[];
      /** Whether it is excluded from automatic clean-up. */
      persist: boolean;
      /** The pane it was started from. */
      parent?: string | null;
      /** Its restart policy, if it has one, and its restarts. */
      restart?: PaneRestartInfo | null;
      /** The pane whose previous run this is. */
      previousOf?: string | null;
      /** The number of lines of output so far. */
      lines: number;
      /** The number of bytes of output so far. */
      bytes: number;
      /** How many of these bytes are no longer retained. */
      dropped: number;
      /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
      printedAt?: string | null;
      /**
       * The last line of its output that has any text, cut at 200 characters, without control
       * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
       * and `pane:get`.
       */
      lastLine?: string | null;
      /** How many of its last lines are retained, if that is limited. */
      maxLines?: number | null;
      /** What is wrong with its output file, if that was damaged. */
      damage?: string | null;
      /** The agent's state, if its program is an agent. */
      agent?: AgentInfo | null;
    };
  };
  /** Run a command in a new pane until it exits, and return its exit code and output. */
  "pane:run": {
    params: ({
      argv: any;
    } & {
      command?: null;
    } | {
      command: any;
    } & {
      argv?: null;
    }) & ({
      /** The program and its arguments. */
      argv?: string[] | null;
      /** A command for `sh -c`, instead of `argv`. */
      command?: string | null;
      /** The id of the pane; generated when omitted. */
      id?: string | null;
      /** The absolute path of its working directory; defaults to the user's home. */
      cwd?: string | null;
      /**
       * Variables to add to the server's environment, or the whole environment if `inheritEnv` is
       * false.
       */
      env?: Record<string, string>;
      /** Whether it inherits the server's environment; defaults to true. */
      inheritEnv?: boolean | null;
      /** Its file mode creation mask in octal, as in `022`; defaults to the server's. */
      umask?: string | null;
      /** The size of its terminal; defaults to 80 columns and 24 rows. */
      size?: {
        /** Columns, 2 to 1000. */
        cols: number;
        /** Rows, 1 to 1000. */
        rows: number;
      } | null;
      /** Stop it after this many seconds. */
      timeoutSeconds?: number | null;
      /** Return at most the last N lines of output: defaults to 500, up to 10000. */
      limit?: number | null;
    });
    answer: {
      /** The pane. It stays readable until it is deleted: `pane:read` returns all of its output. */
      paneId: string;
      /** Its exit code, if it exited by itself. */
      exitCode: number | null;
      /** The signal that terminated it, if any. */
      exitSignal?: string | null;
      /** Whether it timed out. */
      timedOut: boolean;
      /** Its run time in milliseconds. */
      durationMs: number;
      /**
       * The number of the first line in `output`. If that is `truncated`, `pane:read` with `offset`
       * reads the lines before it.
       */
      first: number;
      /** The last lines of its output. */
      output: PaneReadOutput;
    };
  };
  /** Show a pane's screen: rows, cursor, modes and, on request, a picture. */
  "pane:screen": {
    params: {
      /** The pane. */
      paneId: string;
      /** The format to return besides the rows of text. */
      format?: "text" | "ansi" | "svg" | "png";
      /** Also return up to N rows that scrolled off its top. */
      history?: number;
      /**
       * The screen of an earlier moment, also of a pane that has ended: an offset in the output, or
       * a time. The screen now when omitted.
       */
      at?: number | string | null;
    };
    answer: {
      /** Its size. */
      size: Size;
      /** The text of each row, without trailing blanks. */
      rows: string[];
      /** The position of the next character. */
      cursor: Cursor;
      /** The window title that the program has set; empty if none. */
      title: string;
      /** The modes that the program has set. */
      modes: ScreenModes;
      /**
       * Identifies the content: it increases with every visible change, and keeps increasing when
       * the server is restarted.
       */
      revision: number;
      /** The moment that it is of, if an earlier one was requested. */
      at?: ScreenMoment | null;
      /** The rows above it, oldest first, if requested. */
      history?: string[] | null;
      /** The rows with colours, for `ansi`. */
      ansi?: string | null;
      /** The picture, for `svg`. */
      svg?: string | null;
      /** The picture as base64, for `png`. */
      png?: string | null;
    };
  };
  /** Search the output of panes for lines that match a pattern, newest first. */
  "pane:search": {
    params: {
      /** A regular expression, matched against each line of text without escape sequences. */
      pattern: string;
      /** Whether to ignore case. */
      ignoreCase?: boolean;
      /** The panes to search; defaults to all, including those that have exited. */
      panes?: string[] | null;
      /** The maximum number of matches: defaults to 100, up to 1000. */
      limit?: number | null;
      /** The time limit in milliseconds: defaults to 2000, up to 10000. */
      timeoutMs?: number | null;
    };
    answer: {
      /** The matches, newest first. */
      hits: PaneSearchHit[];
      /** The number of panes searched: all of them, unless the search timed out. */
      panes: number;
      /** Whether the limit cut the result. */
      truncated: boolean;
      /** Whether it timed out before everything was searched. */
      timedOut: boolean;
    };
  };
  /** Set one entry of a pane's meta. */
  "pane:set-meta": {
    params: {
      /** The pane. */
      paneId: string;
      /** The entry's key. */
      key: string;
      /** Its new value. */
      value: any;
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its meta before the change. */
      previousMeta: Record<string, any>;
      /** Its meta after the change. */
      meta: Record<string, any>;
      /** Whether they differ. */
      changed: boolean;
    };
  };
  /** Remove and add tags of a pane in one step. */
  "pane:tag": {
    params: {
      /** The pane. */
      paneId: string;
      /** Tags to add. */
      add?: string[];
      /** Tags to remove, before the others are added. */
      remove?: string[];
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its tags. */
      tags: string[];
      /** Whether they have changed. */
      changed: boolean;
    };
  };
  /** Remove and set entries of a pane's meta in one step. */
  "pane:update-meta": {
    params: {
      /** The pane. */
      paneId: string;
      /** Entries to set. */
      set?: Record<string, any>;
      /** Entries to remove, before the others are set. */
      deleteKeys?: string[];
    };
    answer: {
      /** The pane. */
      id: string;
      /** Its meta before the change. */
      previousMeta: Record<string, any>;
      /** Its meta after the change. */
      meta: Record<string, any>;
      /** Whether they differ. */
      changed: boolean;
    };
  };
  /** Wait until panes print, end, fall quiet or change their screen, until an agent does something, or until a server answers. */
  "pane:wait": {
    params: ({
      paneId: any;
    } & {
      paneIds?: any;
    } & ({
      pattern: any;
    } | {
      quietMs: any;
    } | {
      screenChangeSince: any;
    } | {
      agentState: any;
    } | {
      exit: true;
    } | {
      stop: any;
    } | {
      port: any;
    } | {
      http: any;
    }) | {
      paneId?: null;
    } & {
      paneIds?: any;
    } & ({
      pattern?: null;
      quietMs?: null;
      screenChangeSince?: null;
      agentState?: null;
    } & {
      stop?: any;
    } & {
      exit?: false;
    }) & ({
      port: any;
    } | {
      http: any;
    }) | {
      paneIds: any;
    } & {
      paneId?: null;
      port?: null;
      http?: null;
    } & ({
      pattern: any;
    } | {
      quietMs: any;
    } | {
      screenChangeSince: any;
    } | {
      agentState: any;
    } | {
      exit: true;
    } | {
      stop: any;
    })) & {
      /** The pane. May be left out with `port` and `http`. */
      paneId?: string | null;
      /** Several panes, up to 64, in place of `paneId`. */
      paneIds?: string[];
      /** For several panes: until the conditions are met in all of them, or in any. */
      mode?: "all" | "any";
      /**
       * Until a line that counts matches this regular expression, also one that is not ended yet. It
       * is matched against whole lines, as they read at that moment: up to 262144 characters. A line
       * that began before `since` counts once its text differs from the text there, or has differed
       * meanwhile; a line that is only rewritten, or ends, is not new.
       */
      pattern?: string | null;
      /**
       * Patterns that end the wait early: signs that the awaited line will not come. Up to 32, of
       * 4000 characters in all.
       */
      stop?: string[];
      /** Whether the patterns ignore case. */
      ignoreCase?: boolean;
      /** Until the program ends. */
      exit?: boolean;
      /**
       * Until nothing was printed for this many milliseconds, up to a day, from the call on. A
       * program that has exited is quiet.
       */
      quietMs?: number | null;
      /** Until the screen's revision differs from this one. */
      screenChangeSince?: number | null;
      /** Until its agent is in this state, or in one of these. */
      agentState?: "starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown" | ("starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown")[] | null;
      /** Where output starts to count; defaults to the last input. */
      since?: "input" | "start" | "now" | number;
      /**
       * Until a TCP port of this machine, on 127.0.0.1 or ::1, accepts connections. With a pane, a
       * process that is older than the pane's program and none of its own does not count. Needs the
       * scope `spawn` as well. Not for several panes.
       */
      port?: number | null;
      /**
       * Until a GET of this `http://` address is answered with a status from 200 to 399. Needs the
       * scope `spawn` as well, and `admin` for another host than this machine. Not for several
       * panes.
       */
      http?: string | null;
      /** Time limit in milliseconds: defaults to 30000, up to a day. */
      timeoutMs?: number | null;
    };
    answer: {
      /** What ended the wait; nothing when it timed out, or its program ended before. */
      met: PaneWaitCondition | null;
      /** Whether it timed out. */
      timedOut: boolean;
      /**
       * The line that matched, when one did: the first, even if more came with it. `next` is after
       * it.
       */
      evidence: OutputLine[];
      /** The last lines of the output. */
      tail: OutputLine[];
      /**
       * The `since` of the next call: after the line that matched, or after all output that was
       * read.
       */
      next?: number | null;
      /** The pane as it is now. */
      pane?: PaneInfo | null;
      /** Why it was not met, as far as known; for a port that was met, what is uncertain about it. */
      why?: string[];
      /** A line that matches and does not count. */
      earlier?: EarlierMatch | null;
      /** With several panes, the result of each, in the order of `paneIds`. */
      panes?: PaneWaitResult[];
    };
  };
  /** Type the exact bytes into a pane. */
  "pane:write": {
    params: ({
      text: any;
    } & {
      base64?: null;
    } | {
      base64: any;
    } & {
      text?: null;
    }) & {
      /** The pane. */
      paneId: string;
      /** The exact text to type. */
      text?: string | null;
      /** The bytes to type as base64, for data that is not text. */
      base64?: string | null;
      /**
       * Whether to press Enter afterwards, as a separate write, encoded for the terminal's modes. No
       * other input can come in between.
       */
      enter?: boolean;
    };
    answer: {
      /** The number of bytes typed, including Enter. */
      bytes: number;
      /** A warning if the program may not receive all of it. */
      warning?: string | null;
    };
  };
  /** Show what the permission rules say about a command, and why, without running it. */
  "permission:test": {
    params: ({
      argv: any;
    } & {
      command?: null;
    } | {
      command: any;
    } & {
      argv?: null;
    }) & {
      /** The program and its arguments. */
      argv?: string[] | null;
      /** A command for `sh -c`, instead of `argv`. */
      command?: string | null;
      /** The absolute path of the working directory; defaults to the user's home. */
      cwd?: string | null;
      /** Variables that the request would set. */
      env?: Record<string, string>;
      /** As whom it would be started; defaults to the caller of this action. */
      as?: "cli" | "agent" | "token" | "opencode" | null;
      /** The `permission` object of OpenCode's configuration, whose rules also count. */
      openCode?: Record<string, any> | null;
      /** The absolute path of the project of that configuration; defaults to `cwd`. */
      project?: string | null;
    };
    answer: {
      /** What would be done: the strictest decision of all steps. */
      decision: PermissionDecision;
      /** As whom it was judged. */
      as: Spawner;
      /** Why, in one sentence. */
      reason: string;
      /** The commands that it runs, with the decision about each. */
      steps: PermissionStep[];
    };
  };
  /** Show the server's status. */
  "server:status": {
    params: Record<string, never>;
    answer: {
      /** Always true. */
      ok: boolean;
      /** The version of paned. */
      version: string;
      /** The server's process id. */
      pid: number;
      /** Its TCP address. */
      url?: string | null;
      /** The path of its unix socket. */
      socket?: string | null;
      /** When it was started. */
      startedAt: string;
      /** Time since the start, in milliseconds. */
      uptimeMs: number;
      /** The number of panes by status, of those that the token covers. */
      panes: Record<string, number>;
      /** The number of agents by state, of those that the token covers. */
      agents?: Record<string, number>;
      /** Errors in the user's agent profiles, as `file:line: message`. */
      profileMistakes?: string[];
      /** The id of the last event. */
      lastEvent: number;
      /** Where the server finds programs: its PATH. */
      searchPath?: string | null;
      /** What was wrong with the journal when the server started, if it was damaged. */
      journalRecovered?: string | null;
      /** Why changes cannot be saved now, if they cannot. */
      trouble?: string | null;
    };
  };
  /** Stop the server. Panes keep running, and the next server recovers them. */
  "server:stop": {
    params: Record<string, never>;
    answer: Record<string, any>;
  };
  /** Re-exec the server from its binary on disk. Panes and connections are preserved. */
  "server:upgrade": {
    params: Record<string, never>;
    answer: Record<string, any>;
  };
  /** List the tmux sessions, with the socket to attach to. */
  "session:list": {
    params: Record<string, never>;
    answer: SessionInfo[];
  };
  /** Start a tmux session with a program in its first pane. */
  "session:start": {
    params: {
      /**
       * Its name: letters, digits, `_`, `.` and `-`; defaults to `main`, or to the setting
       * `tmux.session`.
       */
      name?: string | null;
      /** The program of its first pane; defaults to the user's login shell. */
      argv?: string[] | null;
      /** The absolute path of its working directory; defaults to the user's home. */
      cwd?: string | null;
      /**
       * Variables to add to the server's environment, or the whole environment if `inheritEnv` is
       * false.
       */
      env?: Record<string, string>;
      /** Whether the program inherits the server's environment; defaults to true. */
      inheritEnv?: boolean | null;
      /** Its file mode creation mask in octal, as in `022`; defaults to the server's. */
      umask?: string | null;
      /** The size of its window until a client attaches; defaults to 200 columns and 50 rows. */
      size?: {
        /** Columns, 2 to 1000. */
        cols: number;
        /** Rows, 1 to 1000. */
        rows: number;
      } | null;
      /** Whether new panes are shown in it by default. */
      follow?: boolean;
    };
    answer: {
      /** Its name. */
      name: string;
      /** The socket of the tmux server that it is on: `tmux -S <socket> attach -t <target>`. */
      socket: string;
      /** Its tmux target. */
      target: string;
      /** How many clients are attached. */
      attached: number;
      /** The panes that it shows. */
      panes: string[];
      /** The size of its window. */
      size: Size;
      /** Whether new panes are shown in it. */
      follows: boolean;
      /** Whether it is the session of requests that name none. */
      default: boolean;
      /** What tmux found wrong in the file of `tmux.config` when it loaded it. */
      configErrors?: string[];
    };
  };
  /** Stop a tmux session and the panes that were created for it. */
  "session:stop": {
    params: {
      /** The session; defaults to `main`, or to the setting `tmux.session`. */
      name?: string | null;
      /** Whether the programs of its panes keep running hidden. */
      keepPanes?: boolean;
      /** Confirms that the caller may stop the pane it runs in. */
      self?: boolean;
    };
    answer: {
      /** The session. */
      name: string;
      /** The panes that were closed with it. */
      closed: string[];
      /** The panes that keep running hidden. */
      kept: string[];
    };
  };
  /** Run a shell command in the background; its output is discarded. */
  "shell:run": {
    params: {
      /** The command, for `sh -c`. */
      command: string;
      /** The absolute path of its working directory; defaults to the user's home. */
      cwd?: string | null;
    };
    answer: Record<string, any>;
  };
  /** Close the pane that shows a sub-agent whose session was deleted. */
  "subagent:closed": {
    params: {
      /** The sub-agent's session id. */
      id: string;
      /** Confirms that the caller may stop the pane it runs in. */
      self?: boolean;
    };
    answer: {
      /** The panes that showed it; they are deleted. */
      closed: string[];
    };
  };
  /** Show a sub-agent's new session in tmux. */
  "subagent:opened": {
    params: ({
      beside?: null;
      tmux?: null;
    } | {
      beside: any;
    } & {
      tmux: any;
    } & {
      session?: null;
    }) & ({
      /** The sub-agent's session id. */
      id: string;
      /**
       * The session that it was opened from; without it, this is not a sub-agent, and nothing is
       * done.
       */
      parentId?: string | null;
      /** Its title. */
      title?: string | null;
      /**
       * The URL of the agent's server, for `{url}` in the command; defaults to
       * `http://localhost:4096`.
       */
      url?: string | null;
      /**
       * The command that shows it; defaults to the configured one. `{id}`, `{url}` and `{parent}`
       * are substituted.
       */
      argv?: string[] | null;
      /** The absolute path of its working directory. */
      cwd?: string | null;
      /**
       * The session on paned's own tmux server to show it in; defaults to the one that follows new
       * panes, or `main`.
       */
      session?: string | null;
      /** An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`. */
      beside?: string | null;
      /** The tmux server of that pane: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
    });
    answer: {
      /** The pane that shows it. */
      paneId?: string | null;
      /** Whether it is visible. */
      state?: ViewState | null;
      /** Whether its program has produced output. */
      ready: boolean;
      /** Why it is not visible, or why there is no pane. */
      reason?: string | null;
    };
  };
  /** List this user's tmux servers with their sessions, windows and panes. Starts no tmux server. */
  "tmux:list": {
    params: {
      /** An additional server to list: `$TMUX`, or the path of its socket. */
      tmux?: string | null;
    };
    answer: TmuxListServer[];
  };
}

export type AgentChatMessage = {
  /** Its index among those that were found, counted from 0. */
  id: number;
  /** The sender. */
  role: AgentChatRole;
  /** The text, with the line breaks of the screen. */
  content: string;
  /** When the agent's pane was created: a screen contains no times. */
  time: string;
};

/** The sender of a message. */
export type AgentChatRole = "user" | "agent";

/** One piece of evidence. */
export type AgentEvidence = {
  /** Where it came from. */
  source: StateSource;
  /** The state that it supports. */
  says: AgentState;
  /** Its weight, 0 to 1. */
  weight: number;
  /** How old it is, in milliseconds. */
  ageMs: number;
  /** The same in words. */
  sentence: string;
};

/** An agent, as the API shows it. */
export type AgentInfo = {
  /** The profile that describes its program. */
  profile: string;
  /** Its state. */
  state: AgentState;
  /** The kind of question it is waiting on. */
  kind?: BlockKind | null;
  /** That question. */
  dialog?: Dialog | null;
  /** When its usage limit is lifted, if it shows that. */
  until?: string | null;
  /** Since when it has been in this state. */
  since: string;
  /** The evidence for this state. */
  source: StateSource;
  /** The confidence in this state, 0 to 1. */
  confidence: number;
  /** The percentage of its context that is used, if it shows that. */
  contextPercent?: number | null;
  /** The number of messages queued for it. */
  queued: number;
};

/** What an agent is doing, as far as paned can tell. */
export type AgentState = "starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown";

/** A change of an agent's detected state. */
export type AgentStateSample = {
  /** The time in seconds since the start of the recording. */
  t: number;
  /** The state. */
  state: AgentState;
  /** The kind of question it was waiting on. */
  kind?: BlockKind | null;
};

/** What ended a wait. */
export type AgentWaitCondition = "state" | "done" | "blocked";

/** Where an answer was found. */
export type AnswerSource = "transcript" | "hook" | "screen";

/** The answer to an approval. */
export type ApprovalAnswer = {
  /**
   * Who answered: `owner`, `token:ID`, `pane:ID`, `ext:NAME`; `terminal` for an agent's question
   * that was answered at its screen, `paned` for one that expired or was withdrawn.
   */
  by: string;
  /** When. */
  at: string;
  /** Why it was denied or withdrawn. */
  reason?: string | null;
  /** Whether the answer also holds for later requests of the same pane. */
  remembered?: boolean;
};

/** An approval, as the API shows it. */
export type ApprovalInfo = {
  /** Its id. */
  id: string;
  /** What asks. */
  kind: ApprovalKind;
  /** What has become of it. */
  status: ApprovalStatus;
  /** What is asked, in one line. */
  subject: string;
  /** The action that waits for it; none for an agent's question. */
  action?: string | null;
  /** The caller that asks, as events name it: `pane:ID`, `token:ID`, `ext:NAME` or `owner`. */
  caller: string;
  /** The pane that asks. */
  paneId?: string | null;
  /** Which of the panes of that name it is. */
  instance?: string | null;
  /** The rule that asks, as it is written in its file. */
  rule?: string | null;
  /** What an answer for this pane would cover; without it, only this request can be allowed. */
  covers?: string | null;
  /**
   * The request without its secrets: for an action its parameters, for an agent's question the
   * text on its screen. Long texts are cut, and say so.
   */
  details?: any;
  /** The options of an agent's question. */
  options?: ApprovalOption[];
  /** When it was asked. */
  askedAt: string;
  /** When it expires; an agent's question stays as long as it is on the screen. */
  expiresAt?: string | null;
  /**
   * Whether its caller is waiting for the answer. A caller that no longer waits gets the answer
   * when it sends the same request again.
   */
  waiting: boolean;
  /** The answer. */
  answer?: ApprovalAnswer | null;
};

/** What asks. */
export type ApprovalKind = "rule" | "action" | "dialog";

/** An option of an agent's question, as an approval offers it. */
export type ApprovalOption = {
  /** Its number from 1, which answers the approval. */
  number: number;
  /** Its text. */
  label: string;
  /** Whether it allows or denies, if known. */
  allows?: boolean | null;
};

/** What has become of an approval. All but `open` and `allowed` are final. */
export type ApprovalStatus = "open" | "allowed" | "used" | "denied" | "expired" | "withdrawn";

/** One thing that a caller did. */
export type AuditRecord = {
  /** The event that it comes from. */
  id: number;
  /** When. */
  time: string;
  /** The caller: `owner`, `pane:ID`, `token:ID`, `ext:NAME` or `anonymous`. */
  caller?: string | null;
  /** The grant that it acted with. */
  grant?: string | null;
  /** The action; none for an agent's question. */
  action?: string | null;
  /**
   * The outcome: `success` or `error` of an action; `asked`, `allowed`, `denied`,
   * `expired`, `withdrawn` or `answered` of an approval.
   */
  outcome: string;
  /** The code of an error. */
  code?: Code | null;
  /** The pane that it is about. */
  paneId?: string | null;
  /** The scope that allowed it. */
  scope?: Scope | null;
  /** The permission rule that applied. */
  rule?: string | null;
  /** The approval that allowed it, or that this is about. */
  approval?: string | null;
  /** Who answered that. */
  answeredBy?: string | null;
  /** Whether that was an answer which holds for the pane. */
  remembered?: boolean;
};

/** What a pane runs on. */
export type BackendKind = "pty" | "tmux";

/** The kind of question an agent is waiting on. */
export type BlockKind = "permission" | "plan" | "question" | "trust" | "login" | "limit";

/** Why a request was refused, as a code that a program can match on. */
export type Code = "not_found" | "invalid" | "unauthorized" | "forbidden" | "vetoed" | "denied" | "conflict" | "busy" | "gone" | "limit" | "timeout" | "unavailable" | "internal";

/** The agent's input line. */
export type ComposerInfo = {
  /** What it contains. */
  state: ComposerState;
  /** Its text, as far as it can be read. */
  text?: string | null;
};

/** What a composer contains. */
export type ComposerState = "hidden" | "empty" | "draft";

/** The cursor. */
export type Cursor = {
  /** The row, from 0 at the top. */
  row: number;
  /** The column, from 0 at the left. */
  col: number;
  /** Whether it is shown. */
  visible: boolean;
  /** Its shape. */
  shape: ScreenCursorShape;
};

/** The delivery status of a message to an agent. */
export type Delivery = "submitted" | "queued" | "drafted" | "held" | "refused" | "unknown";

/** A question on an agent's screen. */
export type Dialog = {
  /** Changes with each question, but not when another option is selected. */
  id: string;
  /** The kind of question. */
  kind: BlockKind;
  /** The question, as the screen shows it. */
  text: string;
  /** The possible answers, as far as they can be read. */
  options: DialogOption[];
};

/** One way to answer a question. */
export type DialogOption = {
  /** Its text. */
  label: string;
  /** The keys that choose it, by name. */
  keys: string[];
  /** Whether Enter would choose it now. */
  selected?: boolean;
  /** Whether it allows or denies, if known. */
  allows?: boolean | null;
};

/** A line that matches and does not count. */
export type EarlierMatch = {
  /** Its number. */
  n: number;
  /** The `since` with which it counts. */
  offset: number;
  /** Whether it is the echo of what was typed. */
  echo?: boolean;
};

/** A fact that happened. Written once, never changed. */
export type Event = {
  /** Increases by one, never reused. */
  id: number;
  /** When it was recorded. */
  time: string;
  /** `noun:past`, as in `pane:created`. */
  name: string;
  /** The event's data. */
  payload: any;
};

/** An extension. */
export type ExtensionInfo = {
  /** Its name, which is the noun of its actions and events. */
  name: string;
  /** Its version. */
  version?: string | null;
  /** One sentence about it. */
  description?: string | null;
  /** Its folder. */
  folder: string;
  /** Where that folder is, if it is a symbolic link in the extensions folder. */
  link?: string | null;
  /** What kind of program it is; absent if its manifest cannot be read. */
  kind?: "program" | "node" | null;
  /** Whether it runs. */
  status: "starting" | "running" | "restarting" | "failed" | "stopped" | "invalid";
  /** Why it does not run, and what to do. */
  reason?: string | null;
  /** Its process. */
  pid?: number | null;
  /** How often it was restarted since it was started or reloaded. */
  restarts: number;
  /** Whether it is started with the server. */
  enabled: boolean;
  /** What its calls may do. */
  scopes: Scope[];
  /** What its manifest asks for. */
  scopesAsked: Scope[];
  /** Whether actions that it may veto are refused while it does not answer. */
  required: boolean;
  /** How long one event or one veto may take, in milliseconds, if it is not the server's limit. */
  timeoutMs?: number | null;
  /** The events it receives, as patterns. */
  events: string[];
  /** The actions it is asked about before they run, as patterns. */
  veto: string[];
  /** The actions it offers. */
  actions: string[];
  /** The file with its log. */
  log?: string | null;
  /** The dependencies in its `package.json` that are not installed. */
  missing?: string[];
  /** The command that installs them. */
  installCommand?: string | null;
  /** What was left out when it was installed, such as symbolic links. */
  leftOut?: string[];
};

/** The permissions of a token. The token itself is not part of it. */
export type Grant = {
  /** Its id. */
  id: string;
  /** A label for users. */
  label: string;
  /** What it permits. */
  scopes: Scope[];
  /** The panes it covers. */
  panes: PaneSet;
  /** The pane it was created for, if any. */
  pane?: PaneRef | null;
  /** Whether a device got it for a sign-in code. */
  device?: boolean;
  /**
   * The grants that its creator acted with, and those that these were created with. Empty for
   * one that the owner has created outside of panes.
   */
  createdWith?: string[];
  /** When it was created. */
  createdAt: string;
  /** When it expires. */
  expiresAt?: string | null;
};

/** How reliable the record of a pane is. */
export type Guarantee = "exact" | "best_effort";

/** One pane of it. */
export type LayoutGetPane = {
  /** Its tmux id, as in `%3`. */
  tmuxPane: string;
  /**
   * Its owner: `main` is the user's main pane, `ours` is a pane of paned, `foreign` is any
   * other.
   */
  owner: string;
  /** The pane that it shows. */
  pane?: string | null;
  /** Whether it has the focus within the window. */
  active: boolean;
  left: number;
  top: number;
  width: number;
  height: number;
};

export type LayoutPlanDecision = {
  /** The pane. */
  pane: string;
};

/** Output that is no longer retained. */
export type LostRange = {
  /** The offset where it began. */
  from: number;
  /** The offset where it ended and retained output begins. */
  to: number;
};

/** Output of one span. */
export type MarkedOutput = {
  /** When the span begins. */
  time: string;
  /** Where its output begins. */
  offset: number;
  /** How many bytes were printed in it. */
  bytes: number;
};

/** A size of the terminal. */
export type MarkedSize = {
  /** Output from here on is for this size. */
  offset: number;
  /** The size. */
  size: Size;
};

/** How mouse events are encoded. */
export type MouseEncoding = "bytes" | "utf8" | "sgr";

/** Which mouse events a program wants. */
export type MouseTracking = "off" | "click" | "drag" | "motion";

/** A rule of the configuration. */
export type NotifyRuleInfo = {
  /** Its name. */
  name: string;
  /** What it is about: `blocked`, `done`, `error`, `limited`, `exit`, `pattern` or `approval`. */
  on: string[];
  /** How it notifies: `desktop`, `terminal`, `command` or `webhook`. */
  to: string[];
  /** Why some of it does not work, and what to do. */
  problems?: string[];
};

/** What became of a test notification. */
export type NotifyTestResult = {
  /** The rule. */
  rule: string;
  /** How it notified. */
  channel: string;
  /** Why it failed; absent if it was delivered. */
  error?: string | null;
};

export type OutputLine = {
  /** Its number. */
  n: number;
  /** Its text. */
  text: string;
  /** Whether the text is cut at 2000 characters. Patterns are matched against up to 262144. */
  cut?: boolean;
  /**
   * Whether it began before `since` and continued after it: this is the whole line, which
   * replaces the line of this number in an earlier answer.
   */
  continued?: boolean;
  /** Whether its line end is not printed yet, so that it may still grow. */
  open?: boolean;
  /** Whether its beginning may be missing, because it is no longer retained. */
  truncatedStart?: boolean;
  /** Whether the pattern matches it; false for context lines. */
  match?: boolean | null;
};

/** What a pane has printed up to now. */
export type PaneActivity = {
  /** The pane. */
  pane: string;
  /** Distinguishes it from earlier and later panes of its name. */
  instance: string;
  /** The number of bytes of output so far. */
  bytes: number;
  /** The number of lines of output so far. */
  lines: number;
  /** When it printed last. */
  printedAt?: string | null;
  /** Its last line with text, see [`paned_model::PaneInfo::last_line`]. */
  lastLine?: string | null;
};

/** An answer that holds for a pane. */
export type PaneAnswer = {
  /** The approval that was answered; `approval:forget` takes this id. */
  id: string;
  /** The pane. */
  paneId: string;
  /** Which of the panes of that name it is. */
  instance: string;
  /** What is allowed. */
  covers: string;
  /** Who answered. */
  by: string;
  /** When. */
  at: string;
};

/** A pane, as the API shows it: the answer of `pane:new`, `pane:get` and each entry of `pane:list`. */
export type PaneInfo = {
  /** Its name. */
  id: string;
  /** Distinguishes it from earlier and later panes of its name. */
  instance: string;
  /** Its title: given by a client, set by the program, or the command. */
  title: string;
  /** The program and its arguments. */
  argv: string[];
  /** Its initial working directory. */
  cwd: string;
  /**
   * The program's process id, once it has started. After the program has exited, the id may be
   * reused.
   */
  pid?: number | null;
  /** The size of its terminal. */
  size: Size;
  /**
   * The client that holds that size: only this one can change it, unless another takes the size
   * by force.
   */
  sizeHeldBy?: string | null;
  /** Its status. */
  status: PaneStatus;
  /** Whether it is being killed right now. */
  killing?: boolean;
  /** Its exit code, if it exited by itself. */
  exitCode?: number | null;
  /** The signal that terminated it, if any. */
  exitSignal?: string | null;
  /** Whether it was stopped because of `timeoutSeconds`. */
  timedOut: boolean;
  /** When it was started. */
  createdAt: string;
  /** When it exited. */
  endedAt?: string | null;
  /** What it runs on. */
  substrate: BackendKind;
  /** Where tmux shows it. */
  view?: PaneView | null;
  /** The tmux pane it was adopted from, if paned did not start it. */
  adopted?: TmuxOrigin | null;
  /** How reliable this record is. */
  guarantee: Guarantee;
  /** Custom data. */
  meta: Record<string, any>;
  /** Custom labels. */
  tags: string[];
  /** Whether it is excluded from automatic clean-up. */
  persist: boolean;
  /** The pane it was started from. */
  parent?: string | null;
  /** Its restart policy, if it has one, and its restarts. */
  restart?: PaneRestartInfo | null;
  /** The pane whose previous run this is. */
  previousOf?: string | null;
  /** The number of lines of output so far. */
  lines: number;
  /** The number of bytes of output so far. */
  bytes: number;
  /** How many of these bytes are no longer retained. */
  dropped: number;
  /** When it printed last. Only in answers of `pane:list` and `pane:get`. */
  printedAt?: string | null;
  /**
   * The last line of its output that has any text, cut at 200 characters, without control
   * characters. None for a program that draws the whole screen. Only in answers of `pane:list`
   * and `pane:get`.
   */
  lastLine?: string | null;
  /** How many of its last lines are retained, if that is limited. */
  maxLines?: number | null;
  /** What is wrong with its output file, if that was damaged. */
  damage?: string | null;
  /** The agent's state, if its program is an agent. */
  agent?: AgentInfo | null;
};

/** Something that happened to a pane. */
export type PaneMark = {
  /** What it was. */
  kind: PaneMarkKind;
  /** When. */
  time: string;
  /** What was printed by then; the first kept offset for what happened before. */
  offset: number;
  /** The event. */
  id: number;
  /**
   * The agent's new state, the kind of its question, the outcome of the prompt, or the status of
   * the pane.
   */
  detail?: string | null;
};

/** What a mark is. */
export type PaneMarkKind = "prompt" | "question" | "state" | "exit" | "restart";

export type PaneReadOutput = {
  /** The lines, for `lines` and `rendered`. */
  lines?: OutputLine[] | null;
  /** The bytes as text, for `raw`, if they are UTF-8. */
  raw?: string | null;
  /** The bytes as base64, for `raw`, if they are not. */
  base64?: string | null;
  /** The `since` of the next call; after `rendered`, for another view, or for `pane:wait`. */
  next: number;
  /**
   * The number of lines so far; for `raw`, of bytes; for `rendered`, of rows ever, or, if
   * `dropped` is null, of available rows.
   */
  total: number;
  /**
   * How many of them are no longer retained; for `rendered`, null if unknown: half a MiB of
   * output or more was printed, or the terminal's width changed after rows were dropped.
   */
  dropped: number | null;
  /** Whether the limit cut the result. */
  truncated: boolean;
  /** Output after `since` that is no longer retained, as byte offsets. */
  gap?: LostRange | null;
  /** When the bytes were printed, to a tenth of a second, for `raw` with `times`. */
  times?: PrintedAt[] | null;
};

/** One pane: its name, and which of the panes of that name it is. */
export type PaneRef = {
  /** Its name, which may be reused once the pane is gone. */
  id: string;
  /** Its instance, which is never reused. */
  instance: string;
};

/** What the restart policy of a pane has done so far, as the API shows it. */
export type PaneRestartInfo = {
  /** The policy. */
  policy: string;
  /** How many times its policy has started it again. */
  count: number;
  /** When it is started again, if it is to be. */
  nextAt?: string | null;
  /** Whether it failed too often and is not started again. */
  gaveUp?: boolean;
};

export type PaneSearchHit = {
  /** The pane. */
  paneId: string;
  /** The line's number. */
  n: number;
  /** Where the line begins in the pane's output. */
  offset: number;
  /** When the end of the line was printed, to a tenth of a second. */
  time: string;
  /** The line's text. */
  text: string;
  /**
   * Where the pattern matches in it, as pairs of character positions: from the first character
   * of a match up to the one after it. At most 32 matches.
   */
  matches: [number, number][];
  /** Whether the text is cut at 2000 characters. */
  cut?: boolean;
};

/** Which panes a grant covers. */
export type PaneSet = "all" | {
  only: PaneRef[];
};

/** The life cycle of a pane. */
export type PaneStatus = "starting" | "running" | "exited" | "killed" | "lost";

/** Where tmux shows a pane. */
export type PaneView = {
  /** The session of paned that it belongs to. */
  session?: string | null;
  /** The socket of the user's tmux server that shows it. */
  socket?: string | null;
  /** The tmux pane there that it is placed beside. */
  beside?: string | null;
  /** Whether it is shown. */
  state: ViewState;
  /** The number of the tmux window that it has to itself, if it is not beside others. */
  window?: number | null;
  /** Why it is not shown. */
  reason?: string | null;
};

/** What ended a wait. */
export type PaneWaitCondition = "pattern" | "stop" | "exit" | "quiet" | "screenChange" | "agentState" | "port" | "http";

/** What a wait for one pane came to. */
export type PaneWaitResult = {
  /** What ended the wait; nothing when it timed out, or its program ended before. */
  met: PaneWaitCondition | null;
  /** Whether it timed out. */
  timedOut: boolean;
  /**
   * The line that matched, when one did: the first, even if more came with it. `next` is after
   * it.
   */
  evidence: OutputLine[];
  /** The last lines of the output. */
  tail: OutputLine[];
  /**
   * The `since` of the next call: after the line that matched, or after all output that was
   * read.
   */
  next?: number | null;
  /** The pane as it is now. */
  pane?: PaneInfo | null;
  /** Why it was not met, as far as known; for a port that was met, what is uncertain about it. */
  why?: string[];
  /** A line that matches and does not count. */
  earlier?: EarlierMatch | null;
};

/** What is done about a command. The later ones are stricter. */
export type PermissionDecision = "allow" | "ask" | "deny";

/** What was decided about one simple command. */
export type PermissionStep = {
  /** The command. */
  command: string;
  /** The programs that start it, outermost first. */
  via?: string[];
  /** The decision about it. */
  decision: PermissionDecision;
  /** The rule that decides, as `source: pattern`. */
  rule?: string | null;
  /** Why, in one sentence. */
  reason: string;
};

/** From this offset on, bytes were printed at this time. */
export type PrintedAt = {
  /** The offset of the first of them. */
  offset: number;
  /** When they were printed. */
  time: string;
};

export type ProfileMistakeInfo = {
  /** The file. */
  file: string;
  /** The line. */
  line: number;
  /** What is wrong, and how to correct it. */
  sentence: string;
};

export type ProfileSummary = {
  /** Its name. */
  name: string;
  /** The command that it starts. */
  command: string[];
};

/** A pane that was deleted. */
export type PrunedPane = {
  /** Its id. */
  id: string;
  /** How many bytes of its output were kept. */
  bytes: number;
};

/** One permission. `admin` includes all the others. */
export type Scope = "read" | "input" | "spawn" | "kill" | "approve" | "admin";

/** The shape of a cursor. */
export type ScreenCursorShape = "block" | "underline" | "bar";

/**
 * The modes that decide how keys, pastes and clicks are encoded, and how the whole screen is
 * shown.
 */
export type ScreenModes = {
  /** Whether the alternate screen is shown. */
  alternateScreen: boolean;
  /** Whether pastes are bracketed. */
  bracketedPaste: boolean;
  /** Whether cursor keys send `ESC O`. */
  applicationCursor: boolean;
  /** Whether the keypad sends escape sequences. */
  applicationKeypad: boolean;
  /** Whether the program wants focus events. */
  focusEvents: boolean;
  /** Which mouse events the program wants. */
  mouse: MouseTracking;
  /** How mouse events are encoded. */
  mouseEncoding: MouseEncoding;
  /** The flags of the kitty keyboard protocol; 0 is the legacy keyboard. */
  kittyKeyboard: number;
  /**
   * Whether foreground and background are swapped on the whole screen. Pictures and `ansi`
   * include this.
   */
  reverseVideo: boolean;
};

/** The moment that a screen is of. */
export type ScreenMoment = {
  /** The screen is what the output before this offset has drawn. */
  offset: number;
  /** When the last of that was printed, exact to a tenth of a second; none before any output. */
  time?: string | null;
  /** Whether older output is no longer kept, so that what it had drawn may be missing. */
  truncatedStart: boolean;
};

/** A session, as the API shows it. */
export type SessionInfo = {
  /** Its name. */
  name: string;
  /** The socket of the tmux server that it is on: `tmux -S <socket> attach -t <target>`. */
  socket: string;
  /** Its tmux target. */
  target: string;
  /** How many clients are attached. */
  attached: number;
  /** The panes that it shows. */
  panes: string[];
  /** The size of its window. */
  size: Size;
  /** Whether new panes are shown in it. */
  follows: boolean;
  /** Whether it is the session of requests that name none. */
  default: boolean;
  /** What tmux found wrong in the file of `tmux.config` when it loaded it. */
  configErrors?: string[];
};

/** The size of a terminal in character cells. */
export type Size = {
  /** Columns, 2 to 1000. */
  cols: number;
  /** Rows, 1 to 1000. */
  rows: number;
};

/** An agent that was not closed. */
export type SkippedAgent = {
  /** Its pane. */
  id: string;
  /** Why it was not closed. */
  why: string;
};

/** As whom a command is started. */
export type Spawner = "cli" | "agent" | "token" | "opencode";

/** The evidence that a state came from. */
export type StateSource = "hook" | "title" | "osc" | "screen" | "process" | "input" | "quiet";

/** A process that outlived a kill. */
export type Survivor = {
  /** The process. */
  pid: number;
  /** Its name. */
  command: string;
};

/** A pane. */
export type TmuxListPane = {
  /** Its tmux id, as in `%3`: what `pane:adopt` takes. */
  id: string;
  /** Its index in the window. */
  index: number;
  /** Its size in character cells. */
  size: Size;
  /** Its title. */
  title: string;
  /** The foreground program. */
  command: string;
  /** Its working directory. */
  cwd: string;
  /** The pid of the program that it was started with. */
  pid?: number | null;
  /** Whether it has the focus in its window. */
  active: boolean;
  /** Whether its program has exited. */
  dead: boolean;
  /** The paned pane that it shows, or is adopted as. */
  paned?: string | null;
};

/** A tmux server of this user. */
export type TmuxListServer = {
  /** Its socket. */
  socket: string;
  /** Whether it is paned's own tmux server. */
  own: boolean;
  /** Its process. */
  pid?: number | null;
  /** Its version. */
  version?: string | null;
  /** Why it cannot be read. */
  error?: string | null;
  /** Its sessions. */
  sessions: TmuxListSession[];
};

/** A session. */
export type TmuxListSession = {
  /** Its tmux id, as in `$1`. */
  id: string;
  /** Its name. */
  name: string;
  /** How many clients are attached. */
  attached: number;
  /** Its windows. */
  windows: TmuxListWindow[];
};

/** A window. One that belongs to several sessions is in each. */
export type TmuxListWindow = {
  /** Its tmux id, as in `@2`. */
  id: string;
  /** Its index in the session. */
  index: number;
  /** Its name. */
  name: string;
  /** Whether it is the current window. */
  active: boolean;
  /** Its size in character cells. */
  size: Size;
  /** Its panes. */
  panes: TmuxListPane[];
};

/** The user's tmux pane that was adopted. */
export type TmuxOrigin = {
  /** The socket of the tmux server that it is on. */
  socket: string;
  /** Its tmux id, as in `%3`. */
  pane: string;
};

/** A pane that has ended and could not be deleted. */
export type UnprunedPane = {
  /** Its id. */
  id: string;
  /** Why it stays. */
  why: string;
};

/** Whether tmux shows a pane. */
export type ViewState = "shown" | "waiting" | "hidden";

/** A message of the client on the WebSocket, without its `id`. */
export type WsRequest = {
  type: "auth";
  token: string;
} | {
  type: "subscribe";
  pane: string;
  since?: "screen" | "start" | "now" | number | null;
  /** How many rows above the screen come with it, at most 1000. */
  history?: number | null;
  window?: number;
  /** When the pane was created, if the client wants no later pane of the same name. */
  createdAt?: string | null;
} | {
  type: "unsubscribe";
  channel: number;
} | {
  type: "ack";
  channel: number;
  /** A place in a pane's output: how many bytes the pane had printed before it. Never goes back. */
  offset: number;
} | {
  type: "input";
  pane: string;
  text?: string | null;
  base64?: string | null;
} | {
  type: "keys";
  pane: string;
  keys: string[];
} | {
  type: "resize";
  pane: string;
  cols: number;
  rows: number;
  force?: boolean | null;
} | {
  type: "release";
  pane: string;
} | {
  type: "events";
  include: string;
  /** Numbers one event. Ids rise by one and are never reused, across restarts too. */
  since?: number | null;
} | {
  type: "activity";
  on: boolean;
} | {
  type: "action";
  name: string;
  params?: any;
} | {
  type: "ping";
};

/** A message of the server on the WebSocket, except events. */
export type WsMessage = {
  type: "welcome";
  id?: any;
  version: string;
  protocol: string;
  scopes: Scope[];
} | {
  type: "subscribed";
  id?: any;
  channel: number;
  pane: string;
  /** A place in a pane's output: how many bytes the pane had printed before it. Never goes back. */
  offset: number;
  size: Size;
  status: PaneStatus;
  createdAt: string;
} | {
  type: "gap";
  channel: number;
  /** A place in a pane's output: how many bytes the pane had printed before it. Never goes back. */
  from: number;
  /** A place in a pane's output: how many bytes the pane had printed before it. Never goes back. */
  to: number;
} | {
  type: "exit";
  channel: number;
  /** A place in a pane's output: how many bytes the pane had printed before it. Never goes back. */
  offset: number;
  status: PaneStatus;
  exitCode?: number | null;
  exitSignal?: string | null;
  timedOut: boolean;
  endedAt?: string | null;
} | {
  type: "ok";
  id: any;
  answer?: any;
} | {
  type: "error";
  id?: any;
  channel?: number | null;
  /** The error message for the user: what was wrong and, where possible, what to do. */
  error: string;
  /** A code for programs. */
  code: Code;
  /**
   * Details for programs: the invalid field, the process that holds a lock, the survivors of a
   * kill.
   */
  details?: any;
} | {
  type: "gap";
  /** Numbers one event. Ids rise by one and are never reused, across restarts too. */
  first: number;
  /** Numbers one event. Ids rise by one and are never reused, across restarts too. */
  last: number;
} | {
  type: "activity";
  panes: PaneActivity[];
} | {
  type: "pong";
  id?: any;
};

/** The body of `POST /sign-in`. */
export type SignInRequest = {
  /** The code. */
  code: string;
  /** A name for this device, if the code has none. */
  label?: string | null;
};

/** The answer of `POST /sign-in`. */
export type SignInResponse = {
  /** The token, which is shown only once. */
  token: string;
  /** The id by which `grant:list` shows it and `grant:revoke` ends it. */
  id: string;
  /** Its label. */
  label: string;
  /** Until when it is valid. */
  expiresAt?: string | null;
  /** What it permits. */
  scopes: Scope[];
};

/** What every event about a pane has. */
export interface PaneEvent {
  paneId: string;
  /** One life of the name `paneId`: a later pane of that name has another. */
  instance?: string;
}

/** A refusal, as in answers of the HTTP API. */
export interface ErrorInfo {
  error: string;
  code: string;
  details?: any;
}

interface ActionEvent {
  actionName: string;
  /** Secrets are left out. */
  params: any;
  /** The label of the caller; of an extension `ext:NAME`. */
  caller: string;
  /** The id of the caller's grant. */
  grant?: string;
  /** What allowed the call. */
  allowedBy?: AllowedBy;
}

/** What allowed a call: the scope, and the rule and the approval of a person if there were any. */
export interface AllowedBy {
  scope: string;
  rule?: string;
  approval?: string;
  /** Who answered the approval. */
  by?: string;
  remembered?: boolean;
}

/** An approval, as its events name it. */
interface ApprovalEvent {
  id: string;
  kind: "rule" | "action" | "dialog";
  subject: string;
  action?: string;
  /** The caller that asks. */
  caller: string;
  paneId?: string;
  instance?: string;
  rule?: string;
}

/** What became of a notification. */
interface NotifyEvent {
  rule: string;
  channel: string;
  about: string;
  delivery: string;
  paneId?: string;
  instance?: string;
  /** The event that it is about. */
  event?: number;
  /** How many notifications were left out before this one. */
  leftOut?: number;
}

/** Payloads by the name of the event. */
export interface Events {
  /** An action is about to run. */
  "action:start": ActionEvent;
  /** An action has ended; `result` is left out for questions. */
  "action:success": ActionEvent & { result?: any };
  "action:error": ActionEvent & { errorInfo: ErrorInfo };
  /** An extension offers an action. */
  "action:added": { actionName: string; scope: string; kind: string };
  "action:removed": { actionName: string };
  /** A handler of an extension failed or took too long. */
  "handler:error": { source: string; event: string; error: string };

  /** A request, or an agent's question, waits for a person. `approval:get` has all of it. */
  "approval:asked": ApprovalEvent & { covers?: string; details?: any; askedAt: string; expiresAt?: string };
  /** It has an answer, or has ended without one: once for each approval. */
  "approval:answered": ApprovalEvent & {
    outcome: "allowed" | "denied" | "expired" | "withdrawn" | "answered";
    by: string;
    reason?: string;
    remembered: boolean;
    delivered: boolean;
  };

  "notify:sent": NotifyEvent;
  "notify:failed": NotifyEvent & { error: string };

  "pane:created": PaneEvent & { restartedFrom?: string };
  "pane:exited": PaneEvent & { exitCode: number | null; exitSignal?: string; status: PaneStatus; timedOut: boolean };
  /** It was ended by an action; `pane:exited` follows. */
  "pane:killed": PaneEvent;
  /** A program of the pane did not end when the pane was closed. */
  "pane:survived": PaneEvent & { survivors: any };
  "pane:removed": PaneEvent;
  /** Its keeper is gone, so how its program ended is not known. */
  "pane:lost": PaneEvent;
  /** A pane that was thought lost is there. */
  "pane:found": PaneEvent;
  /** It has a new name. */
  "pane:moved": PaneEvent & { newId: string };
  "pane:title": PaneEvent & { title: string };
  "pane:bell": PaneEvent & { count: number };
  "pane:resized": PaneEvent & { size: { cols: number; rows: number }; offset?: number };
  "pane:size-held": PaneEvent & { holder: string | null };
  /** A message for the pane `to`, if that is not an agent. */
  "pane:notice": PaneEvent & { to?: string | null; text: string };
  "pane:restarted": PaneEvent & {
    reason: string;
    previousInstance: string;
    previousId: string | null;
    restarts: number;
  };
  "pane:restart-scheduled": PaneEvent & { reason: string; error?: string; attempt: number; at: string };
  "pane:restart-cancelled": PaneEvent;
  "pane:restart-gave-up": PaneEvent & { reason: string; error?: string; attempts: number };
  "pane:activated": PaneEvent;
  "pane:shown": PaneEvent & { session: string; tmuxPane: string; window?: number };
  "pane:hidden": PaneEvent;

  "agent:created": PaneEvent & { profile: string };
  /** An agent's state or its question has changed. */
  "agent:state": PaneEvent & {
    profile: string;
    from: AgentState;
    to: AgentState;
    kind?: BlockKind;
    dialog?: Dialog;
    until?: string;
    source: StateSource;
    confidence: number;
    ageMs: number;
  };
  /** The outcome of a message to an agent is known. */
  "agent:delivered": PaneEvent & { messageId: string; outcome: string | null; evidence: any };
  "agent:restarted": PaneEvent & { oldId: string; attempt?: number };
  "agent:gave-up": PaneEvent & { attempts: number; error?: string };
  "agent:worktree-removed": PaneEvent & { path: string; branch: string; keepsBranch: boolean };
  "agent:worktree-kept": PaneEvent & { path: string; branch: string; why: any };

  "layout:changed": { session: string };
  /** A pane waits for space. */
  "layout:deferred": PaneEvent & { reason: string };
  "layout:expired": PaneEvent & { reason: string };

  "session:started": { name: string };
  "session:stopped": { name: string };
  "session:attached": { name: string; attached: number };
  "session:detached": { name: string; attached: number };

  "grant:revoked": { id: string };
  /** A device was signed in with a code. */
  "grant:signed-in": { id: string; label: string };

  "server:started": Record<string, never>;
  "server:shutdown": Record<string, never>;

  /** The journal was damaged, and its readable events were recovered. */
  "journal:recovered": { cause: string; kept: number; last: number; aside: string[] };
  "journal:withdrawn": Record<string, never>;
  /** Events that could not be written. */
  "journal:dropped": { events: number };
  /** Events that the journal no longer has. */
  gap: { firstAvailable: number; lastAvailable: number };
}

/** The `id` of a message, by which its answer is recognised. */
export type MessageId = string | number;

/** A message of the client on the WebSocket. */
export type ClientMessage = WsRequest & { id?: MessageId };

/** An event, as the WebSocket sends it. Names of extensions' events are not in `Events`. */
export interface EventMessage<Name extends string = string> {
  type: "event";
  id: number;
  time: string;
  name: Name;
  payload: Name extends keyof Events ? Events[Name] : any;
}

/** An event of paned's own: `name` tells the type of `payload`. */
export type OwnEvent = { [Name in keyof Events]: EventMessage<Name> }[keyof Events];

/** A text frame of the server on the WebSocket. */
export type ServerMessage = WsMessage | EventMessage;
