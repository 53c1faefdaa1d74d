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
    /// The folder of the user's own profiles, `*.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The errors in those that cannot be used.
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
    /// What is wrong, and how to correct it.
    sentence: String,
}

impl Action for AgentProfiles {
    const NAME: &'static str = "agent:profiles";
    const DOC: &'static str =
        "List the agent profiles, and the errors in those that cannot be used.";
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
