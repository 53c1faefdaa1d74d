/** What another device may do, and where it finds this paned. */
import { Banner, controlClass, Field, Input } from "../../ui";
import { isLoopback, PERIODS, ROLES } from "./devices";
import styles from "./settings.module.css";

export interface DeviceWish {
  address: string;
  label: string;
  /** One of `ROLES`. */
  role: string;
  /** For how long it is signed in. */
  seconds: number;
}

export interface DeviceFormProps {
  wish: DeviceWish;
  onChange: (change: Partial<DeviceWish>) => void;
  error: string | null;
}

const LOOPBACK =
  "Only this machine can open this address. Enter one that the other device can reach, such as this machine's name in your VPN.";

export function DeviceForm({ wish, onChange, error }: DeviceFormProps) {
  return (
    <div className={styles.form}>
      <Field
        label="Address for that device"
        error={URL.canParse(wish.address) ? null : "This is not an address"}
        hint={isLoopback(wish.address) ? LOOPBACK : null}
      >
        {(control) => (
          <Input
            {...control}
            type="url"
            value={wish.address}
            onChange={(event) => onChange({ address: event.target.value })}
          />
        )}
      </Field>
      <Field label="Name" hint="Empty: the device names itself, such as “Chrome on Android”.">
        {(control) => (
          <Input
            {...control}
            maxLength={100}
            value={wish.label}
            onChange={(event) => onChange({ label: event.target.value })}
          />
        )}
      </Field>
      <Field label="It may">
        {(control) => (
          <select
            {...control}
            className={controlClass}
            value={wish.role}
            onChange={(event) => onChange({ role: event.target.value })}
          >
            {ROLES.map(({ id, label: text }) => (
              <option key={id} value={id}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Signed in for">
        {(control) => (
          <select
            {...control}
            className={controlClass}
            value={wish.seconds}
            onChange={(event) => onChange({ seconds: Number(event.target.value) })}
          >
            {PERIODS.map((period) => (
              <option key={period.seconds} value={period.seconds}>
                {period.label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {error && <Banner tone="danger">No code was made: {error}</Banner>}
    </div>
  );
}
