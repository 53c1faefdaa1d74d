//! One socket of somebody who was let in. Its task owns it: `select!` picks, `match` handles.
//!
//! Nothing here waits for the client but the flush, and that is an event like the others: while it waits,
//! requests are read and grants may end, and nothing is pulled that could not be sent.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::Error;
use axum::extract::ws::Message;
use futures_util::StreamExt;
use paned_kernel::Caller;
use paned_model::{Code, EventId, Include, Offset, Refusal};
use serde_json::value::RawValue;

use super::PROTOCOL;
use super::ask::{Act, Asked, Id, Request, Subscribe};
use super::channels::{Channels, News};
use super::facts::{Fact, Facts};
use super::farewell::{Farewell, Over, over};
use super::opening::{self, Opened};
use super::say::{Ending, Kind, Say, binary, events};
use super::wire::{Heard, Wire};
use super::work::{Beside, Done, Job, Work};
use crate::shared::Shared;

/// A socket while it lives.
pub(super) struct Session {
    shared: Arc<Shared>,
    caller: Caller,
    wire: Wire,
    heard: Heard,
    channels: Channels,
    work: Work,
    facts: Facts,
    over: Over,
}

enum Event {
    Over(Farewell),
    Done(Done),
    Heard(Option<Result<Message, Error>>),
    News(News),
    Facts,
    Flushed(Result<(), Error>),
}

/// Whether to go on, or how to part.
type Flow = ControlFlow<Farewell>;

impl Session {
    pub(super) fn new(shared: Arc<Shared>, caller: Caller, wire: Wire, heard: Heard) -> Self {
        let over = over(shared.clone(), caller.clone());
        let (channels, work, facts) = (Channels::default(), Work::default(), Facts::default());
        Self { shared, caller, wire, heard, channels, work, facts, over }
    }

    /// Talks until either side has enough. Whoever asked to be let in by a message may have called it something.
    pub(super) async fn run(mut self, asked: Option<Id>) {
        self.welcome(asked.as_deref());
        let farewell = loop {
            let event = self.next().await;
            match self.handle(event) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(farewell) => break farewell,
            }
        };
        if let Some(presence) = &self.caller.presence {
            presence.leave();
        }
        match farewell {
            Farewell::Left | Farewell::Broken(_) => {
                tokio::join!(farewell.say(self.wire, self.heard), self.work.wind_up());
            }
            Farewell::Refused(..) | Farewell::ShutOut | Farewell::Stopping => {
                farewell.say(self.wire, self.heard).await;
            }
        }
    }

    /// What happens next. In this order: a flood must not outlive its grant, and what is ready is gathered
    /// before it is flushed.
    async fn next(&mut self) -> Event {
        let may_ask = !self.wire.is_stuffed() && !self.work.is_full();
        let may_pull = !self.wire.is_full();
        tokio::select! {
            biased;
            farewell = &mut self.over => Event::Over(farewell),
            done = self.work.next() => Event::Done(done),
            heard = self.heard.next(), if may_ask => Event::Heard(heard),
            news = self.channels.next(), if may_pull => Event::News(news),
            () = self.facts.ready(), if may_pull => Event::Facts,
            flushed = self.wire.flush(), if self.wire.is_dirty() => Event::Flushed(flushed),
        }
    }

    fn handle(&mut self, event: Event) -> Flow {
        match event {
            Event::Over(farewell) => return Flow::Break(farewell),
            Event::Done(done) => self.tell(done),
            Event::Heard(Some(Ok(message))) => return self.hear(&message),
            Event::Heard(Some(Err(error))) | Event::Flushed(Err(error)) => {
                return Flow::Break(Farewell::Broken(error));
            }
            Event::Heard(None) => return Flow::Break(Farewell::Left),
            Event::News(news) => self.pass_on(news),
            Event::Facts => self.tell_facts(),
            Event::Flushed(Ok(())) => {}
        }
        Flow::Continue(())
    }

    fn welcome(&mut self, id: Option<&RawValue>) {
        let scopes = self.caller.grant.scopes.iter().copied().collect();
        let version = self.shared.kernel.setup().version;
        self.say(&Say::Welcome { id, version, protocol: PROTOCOL, scopes });
    }

    fn hear(&mut self, message: &Message) -> Flow {
        match message {
            Message::Text(text) if text.len() <= self.shared.limits.body_bytes => self.ask(text),
            Message::Text(_) => {
                let most = self.shared.limits.body_bytes;
                let sentence = format!("a message may have at most {most} bytes");
                self.refuse(None, &Refusal::new(Code::Limit, sentence));
            }
            Message::Binary(_) => {
                let sentence = "binary frames only go the other way; send JSON as text";
                self.refuse(None, &Refusal::invalid(sentence));
            }
            // The socket answers a ping by itself.
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return Flow::Break(Farewell::Left),
        }
        Flow::Continue(())
    }

    fn ask(&mut self, text: &str) {
        let Asked { id, request } = Asked::read(text);
        match request {
            Ok(request) => self.obey(id, request),
            Err(refusal) => self.refuse(id.as_deref(), &refusal),
        }
    }

    fn obey(&mut self, id: Option<Id>, request: Request) {
        let obeyed = match request {
            Request::Subscribe(subscribe) => {
                return self.work.line_up(self.opening(id, subscribe));
            }
            Request::Do(act) => return self.work.line_up(self.acting(id, act)),
            Request::Run(act) => return self.run_beside(id, act),
            Request::Ping => return self.say(&Say::Pong { id: id.as_deref() }),
            Request::Unsubscribe(channel) => self.channels.close(channel),
            Request::Ack(channel, offset) => self.channels.acknowledge(channel, offset),
            Request::Events(include, after) => self.follow(include, after),
            Request::Auth(_) => {
                Err(Refusal::new(Code::Conflict, "whoever opened this socket was let in already"))
            }
        };
        match obeyed {
            Ok(()) => self.confirm(id.as_deref(), None),
            Err(refusal) => self.refuse(id.as_deref(), &refusal),
        }
    }

    fn opening(&self, id: Option<Id>, subscribe: Subscribe) -> Job {
        let opening = opening::open(self.shared.clone(), self.caller.clone(), subscribe);
        Box::pin(async move { Done::Opened(id, opening.await) })
    }

    fn acting(&self, id: Option<Id>, Act { name, params }: Act) -> Job {
        let (shared, caller) = (self.shared.clone(), self.caller.clone());
        Box::pin(async move {
            Done::Answered(id, shared.kernel.dispatch(&name, &params, &caller).await)
        })
    }

    fn run_beside(&mut self, id: Option<Id>, act: Act) {
        // One that there is not is refused at once.
        let definition = self.shared.kernel.registry().get(&act.name);
        let kind = definition.map_or(paned_kernel::Kind::Event, |definition| definition.kind);
        let bytes = act.params.len();
        let job = self.acting(id.clone(), act);
        self.work.start(kind, Beside { id, bytes, job });
    }

    fn follow(&mut self, include: Include, after: Option<EventId>) -> Result<(), Refusal> {
        let is_none = include.is_empty();
        let feed = self.shared.kernel.events(after, include, &self.caller)?;
        self.facts.follow((!is_none).then_some(feed));
        Ok(())
    }

    fn tell(&mut self, done: Done) {
        match done {
            Done::Answered(id, Ok(answer)) => self.confirm(id.as_deref(), Some(&answer)),
            Done::Opened(id, Ok(opened)) => self.open(id.as_deref(), *opened),
            Done::Answered(id, Err(refusal)) | Done::Opened(id, Err(refusal)) => {
                self.refuse(id.as_deref(), &refusal);
            }
        }
    }

    fn open(&mut self, id: Option<&RawValue>, opened: Opened) {
        let Opened { pane, reader, window, offset, size, status, created_at, screen } = opened;
        match self.channels.open(reader, window) {
            Ok(channel) => {
                let pane = &pane;
                self.say(&Say::Subscribed { id, channel, pane, offset, size, status, created_at });
                if let Some(screen) = screen {
                    self.wire.say(binary(Kind::Screen, channel, offset, &screen));
                }
            }
            Err(refusal) => self.refuse(id, &refusal),
        }
    }

    fn pass_on(&mut self, news: News) {
        match news {
            News::Bytes(channel, offset, bytes) => {
                self.wire.say(binary(Kind::Output, channel, offset, &bytes));
            }
            News::Gap(channel, from, to) => self.say(&Say::Gap { channel, from, to }),
            News::End(channel, pane) => {
                let (offset, ending) = (Offset(pane.bytes), Ending::of(&pane));
                self.say(&Say::Exit { channel, offset, ending });
            }
            News::Failed(channel, refusal) => {
                self.say(&Say::Error { id: None, channel: Some(channel), refusal: &refusal });
            }
        }
    }

    fn tell_facts(&mut self) {
        match self.facts.take() {
            Some(Fact::Events(portion)) => self.wire.pass(events(&portion).clone()),
            Some(Fact::Missed { first, last }) => self.say(&Say::Missed { first, last }),
            None => {}
        }
    }

    /// Says that it was done, to whoever wants to know.
    fn confirm(&mut self, id: Option<&RawValue>, answer: Option<&RawValue>) {
        if let Some(id) = id {
            self.say(&Say::Ok { id, answer });
        }
    }

    fn refuse(&mut self, id: Option<&RawValue>, refusal: &Refusal) {
        self.say(&Say::Error { id, channel: None, refusal });
    }

    fn say(&mut self, say: &Say<'_>) {
        self.wire.say(say.frame());
    }
}
