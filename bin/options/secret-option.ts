/**
 * Options with a secret value. Every user of the machine can read command lines, and shells record
 * them, so each secret can also be set in an environment variable.
 */
import { type Command, Option } from 'commander';
import { textRules, type ValueRule } from '../../fixtures/base/value-rules.ts';

/** An option with a secret value. Error messages never show the value. */
export class SecretOption extends Option {
  /** True when the command requires the option. */
  isNeeded = false;

  constructor(flags: string, meaning: string, variable: string, rule: ValueRule = textRules.text) {
    super(flags, meaning);
    // A wrong value in the environment matters only when the command line has no value.
    this.env(variable).argParser(
      (text: string) =>
        rule.read(text) ??
        new RefusedValue(
          `the value of option ${this.named} is invalid. Accepted: ${rule.accepted}.`,
        ),
    );
  }

  /** Makes the option required; the error for a missing value names the option and its variable. */
  makeRequired(): this {
    this.isNeeded = true;
    return this;
  }

  /** The option and its variable, as a part of a sentence. */
  get named(): string {
    return `'${this.flags}' (env: ${this.envVar})`;
  }
}

/**
 * Ends the command with an error when a required option is missing both as option and as variable,
 * or when a value is invalid.
 */
export function requireSecrets(command: Command): void {
  for (const option of command.options) {
    if (!(option instanceof SecretOption)) continue;
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value instanceof RefusedValue) command.error(`${value.sentence}`);
    if (value === undefined && option.isNeeded) {
      command.error(`required option ${option.named} is not given`);
    }
  }
}

class RefusedValue {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

/** Removes empty variables, which CI systems set for missing secrets. */
export function dropEmptyVariables(environment: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('FLEETBED_') && value === '') delete environment[name];
  }
}
