/** The parts that every page is made of. */
export { AnsiScreen, type AnsiScreenProps } from "./ansi-screen";
export { Button, IconButton } from "./button";
export { cx } from "./class-names";
export { CopyButton } from "./copy-button";
export { Dialog, Sheet } from "./dialog";
export { controlClass, Field, Input } from "./field";
export { JsonView } from "./json-view";
export { announce, LiveRegion } from "./live-region";
export { Marked } from "./marked";
export { Menu, type MenuGroups, type MenuItem } from "./menu";
export { prose } from "./prose";
export { ScreenRows } from "./screen-rows";
export { SearchBox } from "./search-box";
export { Banner, Chip, EmptyState, Kbd } from "./small";
export { StateBadge } from "./state-badge";
export { StateIcon } from "./state-icon";
export { ToastLayer, toast } from "./toast";
export { TooltipLayer } from "./tooltip";
