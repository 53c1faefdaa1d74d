/** What every field of a form needs to know of the whole. */
import { createContext, useContext } from "react";
import type { Shape } from "./shape";
import type { Problems } from "./value";

/** A pane to choose from. */
export interface PaneOption {
  id: string;
  /** What is beside its name, such as its state. */
  note?: string;
}

export interface FormContext {
  errors: Problems;
  panes: readonly PaneOption[];
}

export const FormContext = createContext<FormContext>({ errors: {}, panes: [] });

export const useForm = () => useContext(FormContext);

/** The properties of every field. */
export interface FieldProps<S extends Shape = Shape> {
  /** The name that is shown. */
  label: string;
  /** Where it is in the whole value, such as `argv[1]`. */
  path: string;
  shape: S;
  value: unknown;
  isRequired: boolean;
  /** Whether its name says that it is required, or is for screen readers only. */
  mark?: "required" | "hidden";
  onChange: (value: unknown) => void;
}
