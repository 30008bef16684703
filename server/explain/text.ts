/**
 * Texts with variables in place of values that an explanation does not know or must not show:
 * tokens, keys, passwords.
 */
import { isSecretName, masked, maskJson, maskText } from '../http/masking.ts';

/** A shell variable in text. */
export interface ShellVariable {
  readonly variable: string;
  /** Set if the variable is inside a JSON string. */
  readonly isInJson?: true;
}

/** Text in parts. The shell replaces the variables. */
export type CommandText = readonly (string | ShellVariable)[];

/** Returns the text for readers, with `$NAME` for each variable. */
export function readable(text: CommandText): string {
  return text.map((part) => (typeof part === 'string' ? part : `$${part.variable}`)).join('');
}

/** The meanings of shell variables, by name. */
export type VariableMeanings = Readonly<Record<string, string>>;

/** Matches a percent-encoded mark in a query. */
const writtenMark = /%EE%80%80(\w+)%EE%80%8[12]/g;
/** Matches a mark, including the quotes around it if the variable is not a JSON string. */
const mark = /"\u{e000}(\w+)\u{e002}"|\u{e000}(\w+)\u{e001}/u;

/** Returns a mark that stands for a variable until `textWithVariables` replaces it. */
export function markFor(name: string): string {
  return `\u{e000}${variableNamed(name)}\u{e001}`;
}

/** Returns a mark for a variable whose value is not a JSON string. */
export function bareMarkFor(name: string): string {
  return `\u{e000}${variableNamed(name)}\u{e002}`;
}

/** Returns the text with each mark replaced by a variable. */
function textWithVariables(marked: string): CommandText {
  const parts = marked.split(mark);
  return parts
    .map((part, index) => (index % 3 === 0 ? part : part && { variable: part }))
    .filter((part) => part !== '' && part !== undefined);
}

/** Returns the JSON text of a value with each mark replaced by a variable. */
export function jsonWithVariables(value: unknown): CommandText {
  const text = textWithVariables(JSON.stringify(value));
  return text.map((part, at) => {
    const precedingCharacter = text[at - 1];
    const isText = typeof precedingCharacter === 'string' && precedingCharacter.endsWith('"');
    return typeof part !== 'string' && isText ? { ...part, isInJson: true } : part;
  });
}

/**
 * Returns the JSON value with each secret replaced by a mark. Returns the same object if it
 * contains no secret.
 */
export function withoutSecrets(value: unknown): unknown {
  const hidden = maskJson(value);
  return JSON.stringify(hidden) === JSON.stringify(value) ? value : markMasked(hidden, 'value');
}

function markMasked(value: unknown, name: string): unknown {
  if (value === masked) return markFor(name);
  if (Array.isArray(value)) return value.map((one) => markMasked(one, name));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, one]) => [key, markMasked(one, key)] as const);
  return Object.fromEntries(members);
}

/** Returns a query, without the question mark, with each secret replaced by a variable. */
export function queryWithoutSecrets(search: string): CommandText {
  return search.split('&').flatMap((pair, index): CommandText => {
    const start = index === 0 ? '' : '&';
    const end = pair.indexOf('=');
    const name = pair.slice(0, end);
    if (end < 0 || !isSecretName(name)) {
      const markedPair = pair.replace(writtenMark, (_, word: string) => markFor(word));
      return textWithVariables(start + maskText(markedPair));
    }
    return [`${start}${name}=`, { variable: variableNamed(name) }];
  });
}

/**
 * Meanings of the variables. They contain no quotes, because bash would interpret them in the
 * command.
 */
export const variables: Readonly<Record<string, string>> = {
  TOKEN: 'the token of the device or user',
  KEY: 'the file with the private key of the device in PEM',
  ID_DATA: 'the identity of the device, as JSON text',
  EMAIL: 'the email address of a user who may do this',
  PASSWORD: 'the password of the user of EMAIL',
  USER_EMAIL: 'the new email address of the user',
  USER_PASSWORD: 'the new password of the user',
  CURRENT_PASSWORD: 'the current password of the user',
  SECRET_HASH: 'the secret from the email',
  TENANT_TOKEN: 'the tenant token that the device sends',
  FILE: 'the name of the file to send',
  BODY_FILE: 'a file with the request body, which the server did not record',
  ARTIFACT_NAME: 'the name of an artifact',
  RELEASE_NAME: 'the name of a release',
  DEVICE_TYPE: 'the type of the device',
  DEVICE_TYPES: 'the compatible device types, separated by commas',
  DEVICE_PATH: 'the path of the file on the device',
  DEST_DIR: 'the absolute path of the directory on the device that the file goes to',
  DEVICE_ID: 'the ID of the device, as "npx fleetbed devices" shows it',
  PUBLIC_KEY: 'the public key of the device in PEM, a line break as two characters: \\n',
};

/** Names that in a request body belong to the user who is created or changed, not to the caller. */
const ofUser: ReadonlySet<string> = new Set(['EMAIL', 'PASSWORD']);

/**
 * Returns a valid variable name for any field. A field without an entry in `variables` gets a
 * prefix, because shells define variables such as NAME or GROUP themselves.
 */
export function variableNamed(name: string): string {
  const word = name
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .slice(0, NAME_MAX_CHARACTERS);
  if (ofUser.has(word)) return `USER_${word}`;
  // The name without the indexes of lists.
  const [field = ''] = word.split(/_\d/, 1);
  const isOurs = field in variables && !ofCommand.has(field);
  return isOurs || field.startsWith('VALUE') ? word : `VALUE_${word}`;
}

/** Variables that identify the caller or belong to the lines around the request. */
const ofCommand: ReadonlySet<string> = new Set(['TOKEN', 'KEY']);

const NAME_MAX_CHARACTERS = 60;
