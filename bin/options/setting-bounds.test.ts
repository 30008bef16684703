import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { optionProblem } from '../../fixtures/base/option-row.ts';
import { settingRows } from '../../server/settings.ts';
import { addOptionRows, settingsOfOptions } from './option-rows.ts';

const quiet = { writeOut: () => undefined, writeErr: () => undefined };

function settingsOf(...args: readonly string[]) {
  const command = addOptionRows(new Command(), settingRows).exitOverride().configureOutput(quiet);
  return settingsOfOptions(settingRows, command.parse([...args], { from: 'user' }).opts());
}

const units = 'a number with ms, s, m, h or d (a number without a unit is in seconds)';
const lifetime = `${units} from 1s to 3650d, in whole seconds`;
const provisioningDelay = `${units} from 0s to 1h, in whole milliseconds`;
const transferIdle = `${units} from 1s to 1d, in whole milliseconds`;
const limit = 'a number of requests per whole seconds, such as 100/60s, at most 1000000/1d';

describe('a value of a server option outside its range', () => {
  it.each([
    ['--token-lifetime <duration>', ['4000d', '3650.5d', '0', '999ms', '1.5s'], lifetime],
    ['--link-lifetime <duration>', ['4000d', '3650.5d', '0', '999ms', '1.5s'], lifetime],
    ['--provisioning-delay <duration>', ['2h', '3600001ms', '0.5ms', '4000d'], provisioningDelay],
    ['--transfer-idle <duration>', ['999ms', '2d', '86400001ms', '1s1'], transferIdle],
    ['--transfer-rate-min <bytes>', ['1000000001', '0.5'], 'a whole number from 0 to 1000000000'],
    ['--device-limit <count>', ['1000001', '0.5'], 'a whole number from 0 to 1000000'],
    ['--unaccepted-keys-max <count>', ['0', '1000001'], 'a whole number from 1 to 1000000'],
    ['--journal-entries <count>', ['1000001', '0.5'], 'a whole number from 0 to 1000000'],
    ['--journal-bytes <bytes>', ['65535', '4294967297'], 'a whole number from 65536 to 4294967296'],
    ['--rate-limit <limit>', ['1000001/60s', '1/2d', '1/0s', '1/1.5s'], limit],
    ['--port <port>', ['65536'], 'a whole number from 0 (any free port) to 65535'],
    ['--control-port <port>', ['65536'], 'a whole number from 0 (any free port) to 65535'],
  ])('is refused with the option and the range: %s', (flag, texts, accepted) => {
    const [option = ''] = flag.split(' ');
    for (const text of texts) {
      const attempt = () => settingsOf(option, text);
      expect(attempt, text).toThrow(`option '${flag}' argument`);
      expect(attempt, text).toThrow(` is invalid. Accepted: ${accepted}.`);
    }
  });

  const texts = ['0', '1', '0.5ms', '1ms', '1001ms', '1.001s', '1.1m', '2h', '2d', '3650d'];
  const numbers = ['65535', '65536', '1000000', '1000001', '4294967296', '4294967297', '9e9'];
  // A password has no range.
  const rows = Object.values(settingRows).filter(({ cli }) => cli.kind !== 'secret');

  it.each(rows)('is never left for the check of the setting: $flag', ({ flag }) => {
    const [option = ''] = flag.split(' ');
    for (const text of [...texts, ...numbers, '0/1s', '1000000/1d', '1/2d']) {
      let settings: object;
      try {
        settings = settingsOf(option, text);
      } catch {
        continue;
      }
      expect(optionProblem(settingRows, settings), text).toBeUndefined();
    }
  });
});
