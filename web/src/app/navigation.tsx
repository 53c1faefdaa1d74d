/** The places of the page, for the rail, the menu and the tabs. */
import {
  Activity,
  House,
  LayoutGrid,
  type LucideIcon,
  Search,
  Settings,
  SquareTerminal,
} from "lucide-react";
import type { PageName } from "./routes";

export interface Place {
  path: string;
  page: PageName | null;
  label: string;
  icon: LucideIcon;
  command: string;
}

export const PLACES: readonly Place[] = [
  { path: "/", page: null, label: "Panes", icon: House, command: "go-home" },
  { path: "/grid", page: "grid", label: "Grid", icon: LayoutGrid, command: "grid" },
  { path: "/find", page: "find", label: "Find", icon: Search, command: "go-find" },
  {
    path: "/timeline",
    page: "timeline",
    label: "Timeline",
    icon: Activity,
    command: "go-timeline",
  },
  {
    path: "/console",
    page: "console",
    label: "Console",
    icon: SquareTerminal,
    command: "go-console",
  },
  {
    path: "/settings",
    page: "settings",
    label: "Settings",
    icon: Settings,
    command: "go-settings",
  },
];
