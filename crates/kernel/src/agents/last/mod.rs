//! An agent's last answer: from what its program writes down where it does, else cut from its screen.

mod database;
mod files;
