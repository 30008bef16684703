/** Options that mean the same in several commands, so that each has one sentence of help. */
import { Option } from 'commander';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import * as values from './option-values.ts';

/** Help of options that some commands define as rows. */
export const sharedHelp = {
  ca: 'PEM file with the certificate of the server or of its CA',
  headerPrefix: "vendor prefix of the API's header names",
  json: 'print the result as JSON',
} as const;

/** Returns the option `--json` of a command that prints one result. */
export function jsonOption(): Option {
  return new Option('--json', sharedHelp.json);
}

/** Returns the option `--json` of a command that prints a line for each of these. */
export function jsonLinesOption(each: 'entry' | 'request'): Option {
  return new Option('--json', `print each ${each} as a line of JSON`);
}

/** Returns the option `--ca`. */
export function caOption(): Option {
  return new Option('--ca <file>', sharedHelp.ca);
}

/** Returns the option `--device` of commands about one device. */
export function deviceOption(): Option {
  return new Option('--device <device>', 'device ID, or a value of its identity').argParser(
    values.nonEmptyText,
  );
}

/** Returns the option `--header-prefix`. */
export function headerPrefixOption(): Option {
  return new Option('--header-prefix <prefix>', sharedHelp.headerPrefix)
    .argParser(values.headerPrefix)
    .default(defaultHeaderPrefix);
}
