/** The menu of places, for windows without a rail. */
import { Menu as MenuIcon } from "lucide-react";
import { navigate } from "../lib/route";
import { IconButton, Menu } from "../ui";
import { chordOf } from "./keymap";
import { PLACES } from "./navigation";

export function PlacesMenu() {
  const items = PLACES.map(({ label, path, icon: Icon, command }) => {
    const chord = chordOf(command);
    return {
      label,
      icon: <Icon />,
      ...(chord ? { chord } : {}),
      onSelect: () => navigate(path),
    };
  });
  return (
    <Menu
      groups={[items]}
      trigger={(properties) => (
        <IconButton label="Places" {...properties}>
          <MenuIcon />
        </IconButton>
      )}
    />
  );
}
