//! Builds a command line from launch options.

use serde::{Deserialize, Serialize};

use super::fields::{self, ProfileTable, refuse};

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permissions {
    /// It asks.
    #[default]
    Ask,
    /// It acts without asking.
    Auto,
}

/// How to start an agent.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The base command line, instead of the profile's own.
    pub argv: Option<Vec<String>>,
    /// The model, by the name or alias that the program knows.
    pub model: Option<String>,
    /// Whether it asks before it acts. If `None`, a custom `argv` gets no such arguments.
    pub permissions: Option<Permissions>,
    /// The first prompt.
    pub prompt: Option<String>,
}

/// The program's arguments for each launch option.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    /// Chooses a model; `{model}` is replaced by its name.
    #[serde(deserialize_with = "fields::words")]
    pub model: Option<Vec<String>>,
    /// Short names of models, and what the program calls them.
    #[serde(deserialize_with = "fields::pairs")]
    pub models: Vec<(String, String)>,
    /// Makes it ask before it acts.
    #[serde(deserialize_with = "fields::list")]
    pub ask: Vec<String>,
    /// Makes it act without asking.
    #[serde(deserialize_with = "fields::words")]
    pub auto: Option<Vec<String>>,
    /// The first prompt; `{prompt}` is replaced by it.
    #[serde(deserialize_with = "fields::words")]
    pub prompt: Option<Vec<String>>,
}

impl ProfileTable for Arguments {
    fn complete(&mut self) -> Result<(), String> {
        let lacks = |words: &Option<Vec<String>>, hole: &str| {
            words.as_ref().is_some_and(|words| !words.iter().any(|word| word.contains(hole)))
        };
        refuse([
            (lacks(&self.model, "{model}"), "`model` must have `{model}` in one of its words"),
            (lacks(&self.prompt, "{prompt}"), "`prompt` must have `{prompt}` in one of its words"),
        ])
    }
}

impl Arguments {
    pub(super) fn command_line(
        &self,
        name: &str,
        command: &[String],
        wanted: &LaunchOptions,
    ) -> Result<Vec<String>, String> {
        let mut argv = wanted.argv.clone().unwrap_or_else(|| command.to_vec());
        if let Some(model) = &wanted.model {
            argv.extend(self.model(name, model)?);
        }
        let usual = wanted.argv.is_none().then_some(Permissions::Ask);
        match (wanted.permissions.or(usual), &self.auto) {
            (None, _) => {}
            (Some(Permissions::Ask), _) => argv.extend(self.ask.iter().cloned()),
            (Some(Permissions::Auto), Some(auto)) => argv.extend(auto.iter().cloned()),
            (Some(Permissions::Auto), None) => {
                return Err(format!(
                    "{name} has no option to act without asking; omit `permissions`, or pass the \
                    complete `argv`"
                ));
            }
        }
        if let (Some(prompt), Some(template)) = (&wanted.prompt, &self.prompt) {
            argv.extend(template.iter().map(|word| word.replace("{prompt}", prompt)));
        }
        Ok(argv)
    }

    fn model(&self, name: &str, model: &str) -> Result<Vec<String>, String> {
        let template = self.model.as_ref().ok_or_else(|| {
            format!(
                "{name} has no option for the model; omit `model`, or set it in the \
                    program's configuration"
            )
        })?;
        if model.is_empty() || model.starts_with('-') {
            return Err(format!("invalid model name `{model}`"));
        }
        let known = self.models.iter().find(|(alias, _)| alias == model);
        let model = known.map_or(model, |(_, name)| name);
        Ok(template.iter().map(|word| word.replace("{model}", model)).collect())
    }
}
