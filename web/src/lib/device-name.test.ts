import { expect, test } from "vitest";
import { deviceName } from "./device-name";

test("browsers and systems are named", () => {
  const android =
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36";
  const iphone =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile Safari/604.1";
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  expect(deviceName(android)).toBe("Chrome on Android");
  expect(deviceName(iphone)).toBe("Safari on iPhone");
  expect(deviceName(firefox)).toBe("Firefox on Linux");
  expect(deviceName("curl")).toBe("Browser");
});
