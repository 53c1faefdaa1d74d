//! Documents in, profiles and mistakes out.
