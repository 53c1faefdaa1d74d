//! `agent:profiles`

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::NoParams;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentProfiles;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentProfilesOutput {
    /// All profiles, by name.
    profiles: Vec<ProfileSummary>,
    /// Where the user's own lie, as `*.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// What is wrong with those that are left out.
    mistakes: Vec<ProfileMistakeInfo>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct ProfileSummary {
    /// Its name.
    name: String,
    /// The command that it starts.
    command: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct ProfileMistakeInfo {
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
    const KIND: ActionKind = ActionKind::Question;
    type Params = NoParams;
    type Answer = AgentProfilesOutput;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::nothing()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<AgentProfilesOutput, Refusal> {
        let agents = context.kernel.agents();
        let found = agents.profiles_now();
        let profiles = found.library.names().filter_map(|name| found.library.get(name));
        let mistakes = found.mistakes.iter().map(|mistake| ProfileMistakeInfo {
            file: mistake.file.clone(),
            line: mistake.line,
            sentence: mistake.sentence.clone(),
        });
        Ok(AgentProfilesOutput {
            profiles: profiles
                .map(|found| ProfileSummary {
                    name: found.name.clone(),
                    command: found.command.clone(),
                })
                .collect(),
            folder: agents.profiles_folder().map(|folder| folder.to_string_lossy().into_owned()),
            mistakes: mistakes.collect(),
        })
    }
}
