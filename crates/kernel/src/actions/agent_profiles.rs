//! `agent:profiles`

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use super::Nothing;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentProfiles;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profiles {
    /// All profiles, by name.
    profiles: Vec<Named>,
    /// Where the user's own lie, as `*.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// What is wrong with those that are left out.
    mistakes: Vec<Wrong>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    /// Its name.
    name: String,
    /// The command that it starts.
    command: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wrong {
    /// The file.
    file: String,
    /// The line.
    line: usize,
    /// What is wrong, and what would be right.
    sentence: String,
}

impl Action for AgentProfiles {
    const NAME: &'static str = "agent:profiles";
    const DOC: &'static str =
        "Show the profiles of agents, and the mistakes in those that are left out.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Nothing;
    type Answer = Profiles;

    fn touches(_: &Nothing) -> Touches {
        Touches::nothing()
    }

    async fn run(context: Context, _: Nothing) -> Result<Profiles, Refusal> {
        let agents = context.kernel.agents();
        let found = agents.profiles_now();
        let profiles = found.library.names().filter_map(|name| found.library.get(name));
        let mistakes = found.mistakes.iter().map(|mistake| Wrong {
            file: mistake.file.clone(),
            line: mistake.line,
            sentence: mistake.sentence.clone(),
        });
        Ok(Profiles {
            profiles: profiles
                .map(|found| Named { name: found.name.clone(), command: found.command.clone() })
                .collect(),
            folder: agents.profiles_folder().map(|folder| folder.to_string_lossy().into_owned()),
            mistakes: mistakes.collect(),
        })
    }
}
