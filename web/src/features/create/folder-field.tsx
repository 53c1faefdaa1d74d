/** The working directory, with the folders that were used before. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { controlClass, Field } from "../../ui";
import styles from "./create.module.css";

export interface FolderFieldProps {
  value: string;
  folders: readonly string[];
  error: string | null;
  onChange: (value: string) => void;
}

export function FolderField({ value, folders, error, onChange }: FolderFieldProps) {
  return (
    <Field label="Folder" hint="An absolute path; your home folder when empty" error={error}>
      {(control) => (
        <Autocomplete.Root
          items={folders}
          value={value}
          onValueChange={onChange}
          // A folder of the list is where to choose another one from.
          filter={(folder: string, query) => folders.includes(query) || folder.includes(query)}
          openOnInputClick
        >
          <Autocomplete.Input
            {...control}
            className={controlClass}
            placeholder="/home/…"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
          />
          <Autocomplete.Portal>
            <Autocomplete.Positioner className={styles.layer} sideOffset={4} align="start">
              <Autocomplete.Popup className={styles.folders}>
                <Autocomplete.List>
                  {(folder: string) => (
                    <Autocomplete.Item key={folder} value={folder} className={styles.folder}>
                      {folder}
                    </Autocomplete.Item>
                  )}
                </Autocomplete.List>
              </Autocomplete.Popup>
            </Autocomplete.Positioner>
          </Autocomplete.Portal>
        </Autocomplete.Root>
      )}
    </Field>
  );
}
