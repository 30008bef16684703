/** The server's settings: a table that generates types, defaults, checks, options and guide. */
import { knownNames } from '../fixtures/base/nearest.ts';
import {
  defaultsOf,
  groupRows,
  optionProblem,
  type RateLimit,
  switchOption,
  type UngroupedRows,
  type ValuesOf,
} from '../fixtures/base/option-row.ts';
import { secretVariables } from '../fixtures/base/secret-variables.ts';
import { textRules } from '../fixtures/base/value-rules.ts';
import { dialectNames } from '../fixtures/contract/dialects.ts';
import { limits } from '../fixtures/contract/limits.ts';
import { variationNames } from '../fixtures/contract/variation-names.ts';
import { defaultHeaderPrefix } from '../fixtures/contract/vendor-names.ts';
import { type TlsSettings, tlsSettingsProblem } from './tls-settings.ts';

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type ServerLogLevel = (typeof logLevels)[number];

const LOOPBACK = '127.0.0.1';
/** Ten years; a time far beyond that cannot be formatted as a date. */
const LIFETIME_MAX_SECONDS = 3650 * 86_400;
const PROVISIONING_DELAY_MAX_MS = 3_600_000;
const DEVICE_LIMIT_MAX = 1_000_000;
const JOURNAL_ENTRIES_MAX = 1_000_000;
const JOURNAL_BYTES_MIN = 65_536;
const JOURNAL_BYTES_MAX = 4_294_967_296;
const TRANSFER_IDLE_MAX_MS = 86_400_000;
const TRANSFER_RATE_MAX = 1_000_000_000;
const RATE_REQUESTS_MAX = 1_000_000;
const RATE_WINDOW_MAX_SECONDS = 86_400;

const listening = groupRows('Listening', {
  host: {
    flag: '--host <address>',
    help: 'address of the API; 0.0.0.0 for all addresses of this machine',
    cli: { kind: 'text' },
    default: { value: LOOPBACK },
  },
  port: {
    flag: '--port <port>',
    help: 'port of the API; 0 for any free port',
    cli: { kind: 'port' },
    default: { value: 8080 },
  },
  controlHost: {
    flag: '--control-host <address>',
    help: 'address of control listener and console, which control the server',
    cli: { kind: 'text' },
    default: { value: LOOPBACK },
  },
  controlPort: {
    flag: '--control-port <port>',
    help: 'port of control listener and console; 0 for any free port',
    cli: { kind: 'port' },
    default: { value: 8081 },
  },
  trustProxy: {
    flag: '--trust-proxy',
    help: 'build links from X-Forwarded-Host, X-Forwarded-Proto and X-Forwarded-Prefix',
    ...switchOption,
  },
} as const satisfies UngroupedRows);

const users = groupRows('Users and devices', {
  adminEmail: {
    flag: '--admin-email <email>',
    help: 'first user',
    cli: { kind: 'email' },
    default: { value: 'admin@example.com' },
  },
  adminPassword: {
    flag: '--admin-password <password>',
    help: `password of the first user, ${textRules.password.accepted} (default: random)`,
    cli: { kind: 'secret', variable: secretVariables.adminPassword, rule: textRules.password },
  },
  autoAccept: {
    flag: '--auto-accept',
    help: 'accept each device automatically after its first request, which is always refused',
    ...switchOption,
  },
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    help: 'vendor prefix of header names',
    cli: { kind: 'header-prefix' },
    default: { value: defaultHeaderPrefix },
  },
  tokenLifetimeSeconds: {
    flag: '--token-lifetime <duration>',
    help: 'lifetime of tokens, such as 30s, 15m or 7d',
    cli: { kind: 'whole-duration', unit: 's', min: 1, max: LIFETIME_MAX_SECONDS },
    default: { value: limits.tokenLifetimeSeconds, text: '7d' },
  },
  linkLifetimeSeconds: {
    flag: '--link-lifetime <duration>',
    help: 'lifetime of download links, such as 30s, 15m or 7d',
    cli: { kind: 'whole-duration', unit: 's', min: 1, max: LIFETIME_MAX_SECONDS },
    default: { value: limits.linkLifetimeSeconds, text: '1d' },
  },
} as const satisfies UngroupedRows);

const state = groupRows('State and time', {
  dataFolder: {
    flag: '--data <folder>',
    help: 'keep the state in this folder across restarts (default: in memory)',
    cli: { kind: 'text' },
  },
} as const satisfies UngroupedRows);

const dialectsAndFaults = groupRows('Dialects, variation and faults', {
  dialects: {
    flag: '--dialect [name]',
    help: 'imitate a server that differs from the contract; repeatable; without a name: list all dialects',
    ...nameSet(dialectNames, 'dialect'),
  },
  provisioningDelayMs: {
    flag: '--provisioning-delay <duration>',
    help: 'delay in the dialect asynchronous-provisioning',
    cli: { kind: 'whole-duration', unit: 'ms', min: 0, max: PROVISIONING_DELAY_MAX_MS },
    default: { value: 1000, text: '1s' },
  },
  /** Absent: every response has its default form. */
  variationSeed: {
    flag: '--variation-seed [seed]',
    help: 'vary responses within what the contract allows; without a seed: list all variations',
    cli: { kind: 'text' },
  },
  variations: {
    flag: '--variation <names>',
    help: 'apply only these variations, to every response; separated by commas',
    ...nameSet(variationNames, 'variation'),
  },
  spreadsheetSafeCsv: {
    flag: '--spreadsheet-safe-csv',
    help: 'put a quote before audit log CSV fields that begin with = + - @, tab or line end',
    ...switchOption,
  },
} as const satisfies UngroupedRows);

const bounds = groupRows('Limits', {
  /** Default maximum of accepted devices per tenant; -1 for no limit. */
  deviceLimit: {
    flag: '--device-limit <count>',
    help: 'maximum number of accepted devices',
    cli: { kind: 'count', min: 0, max: DEVICE_LIMIT_MAX },
    default: { value: limits.deviceLimitNone, text: 'unlimited' },
  },
  unacceptedKeysMax: {
    flag: '--unaccepted-keys-max <count>',
    help: 'maximum number of keys per tenant that were never accepted',
    cli: { kind: 'count', min: 1, max: DEVICE_LIMIT_MAX },
    default: { value: 100_000 },
  },
  rateLimit: {
    flag: '--rate-limit <limit>',
    help: 'maximum requests per caller and time, such as 100/60s (default: unlimited)',
    cli: { kind: 'rate-limit' },
    problem: rateLimitProblem,
  },
  transferIdleMs: {
    flag: '--transfer-idle <duration>',
    help: 'end a transfer that stalls for so long, such as 30s or 5m',
    cli: { kind: 'whole-duration', unit: 'ms', min: 1000, max: TRANSFER_IDLE_MAX_MS },
    default: { value: 60_000, text: '60s' },
  },
  transferRateMin: {
    flag: '--transfer-rate-min <bytes>',
    help: 'minimum average bytes per second of a transfer over --transfer-idle; 0 for none',
    cli: { kind: 'count', min: 0, max: TRANSFER_RATE_MAX },
    default: { value: 100 },
  },
} as const satisfies UngroupedRows);

const records = groupRows('Journal and log', {
  journalEntriesMax: {
    flag: '--journal-entries <count>',
    help: 'maximum number of journal entries per tenant; 0: no journal',
    cli: { kind: 'count', min: 0, max: JOURNAL_ENTRIES_MAX },
    default: { value: 10_000 },
  },
  journalBytesMax: {
    flag: '--journal-bytes <bytes>',
    help: 'approximate memory limit of the journal, in bytes',
    cli: { kind: 'count', min: JOURNAL_BYTES_MIN, max: JOURNAL_BYTES_MAX },
    default: { value: 64 * 1024 * 1024 },
  },
  logLevel: {
    flag: '--log-level <level>',
    help: 'level of the log on standard error',
    cli: { kind: 'choices', values: logLevels },
    default: { value: 'info' },
  },
  explainHeader: {
    flag: '--explain-header',
    help: 'add a header with the address of an explanation to each refusal',
    ...switchOption,
  },
} as const satisfies UngroupedRows);

/** Every setting with an option of `fleetbed serve`, by name; except TLS. */
export const settingRows = {
  ...listening,
  ...users,
  ...state,
  ...dialectsAndFaults,
  ...bounds,
  ...records,
} as const;

/** Limits of one listener, measured in system time, independent of tenant clocks. */
export interface ConnectionLimits {
  /**
   * Maximum time from the connection, or the first byte of a later request, to the end of the
   * headers.
   */
  readonly headersMaxMs: number;
  /** Maximum time in which a client sends no byte of a body, or reads no byte of a response. */
  readonly transferIdleMs: number;
  /**
   * Minimum average rate at which a client sends or reads, in bytes per second over
   * `transferIdleMs`.
   */
  readonly transferRateMin: number;
  /** Interval at which a listener checks for slow requests and transfers. */
  readonly checkMs: number;
  /** Maximum total length of the request line and all headers. */
  readonly headersMaxBytes: number;
  /**
   * Maximum number of open connections of all API listeners; lower if the open file limit is low.
   */
  readonly connectionsMax: number;
  /** Maximum time for which a client may continue to send after an early response. */
  readonly discardMaxMs: number;
  /** Maximum number of bytes discarded in that time before the connection is cut. */
  readonly discardMaxBytes: number;
  /** Maximum total bytes of incomplete bodies and messages on all API connections. */
  readonly inFlightMaxBytes: number;
  /** Maximum total bytes of responses that clients have not read, on all API connections. */
  readonly unreadMaxBytes: number;
}

/** The settings of a server. */
export interface Settings extends ValuesOf<typeof settingRows> {
  /** TLS settings of the API; unencrypted HTTP when absent. */
  readonly tls?: TlsSettings;
  /** Limits on slow clients that differ from the defaults, for tests. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
}

/** The default settings. */
export const defaultSettings: Settings = defaultsOf(settingRows);

/**
 * The server cannot start with a setting; the message contains the setting, its value and what is
 * accepted.
 */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/**
 * Fills in defaults, and checks the settings.
 * @throws SettingError when a setting is invalid
 */
export function completeSettings(chosen: Partial<Settings>): Settings {
  const names = [...Object.keys(settingRows), 'tls', 'connectionLimits'];
  const unknownName = Object.keys(chosen).find((name) => !names.includes(name));
  if (unknownName !== undefined) {
    throw new SettingError(
      `${unknownName}: is unknown; ${knownNames('setting', unknownName, names)}`,
    );
  }
  const definedEntries = Object.entries(chosen).filter(([, value]) => value !== undefined);
  const settings: Settings = { ...defaultSettings, ...Object.fromEntries(definedEntries) };
  const problem =
    optionProblem(settingRows, settings) ?? (settings.tls && tlsSettingsProblem(settings.tls));
  if (problem !== undefined) throw new SettingError(problem);
  return settings;
}

/** Returns why a rate limit is invalid; undefined when it is valid. */
export function rateLimitProblem({ requests, windowSeconds }: RateLimit): string | undefined {
  if (!(Number.isInteger(requests) && requests >= 0 && requests <= RATE_REQUESTS_MAX)) {
    return `requests: must be a whole number from 0 to ${RATE_REQUESTS_MAX}, not ${requests}`;
  }
  const isWindow = Number.isInteger(windowSeconds) && windowSeconds >= 1;
  if (isWindow && windowSeconds <= RATE_WINDOW_MAX_SECONDS) return undefined;
  return `windowSeconds: must be a whole number from 1 to ${RATE_WINDOW_MAX_SECONDS}, not ${windowSeconds}`;
}

const defaultConnectionLimits: ConnectionLimits = {
  headersMaxMs: 20_000,
  transferIdleMs: defaultSettings.transferIdleMs,
  transferRateMin: defaultSettings.transferRateMin,
  checkMs: 5000,
  headersMaxBytes: 16_384,
  connectionsMax: 50_000,
  discardMaxMs: 10_000,
  discardMaxBytes: 4 * limits.bodyMaxBytes,
  inFlightMaxBytes: 134_217_728,
  unreadMaxBytes: 134_217_728,
};

/** Returns the limits, with defaults for absent ones. */
export function completeConnectionLimits(
  chosen: Partial<ConnectionLimits> | undefined,
): ConnectionLimits {
  return { ...defaultConnectionLimits, ...chosen };
}

/** Returns the limits of the listeners of a server with these settings. */
export function connectionLimitsOf(settings: Settings): ConnectionLimits {
  const { transferIdleMs, transferRateMin, connectionLimits } = settings;
  return completeConnectionLimits({ transferIdleMs, transferRateMin, ...connectionLimits });
}

/** The parts of a row for a set of names, which is empty by default. */
function nameSet<const Name extends string>(values: readonly Name[], noun: string) {
  return {
    cli: { kind: 'names', values },
    default: { value: new Set<Name>(), isOmittedFromHelp: true },
    toSetting: (names: readonly Name[]): ReadonlySet<Name> => new Set(names),
    problem: (names: ReadonlySet<Name>) => {
      const unknownName = [...names].find((name) => !values.includes(name));
      return unknownName === undefined
        ? undefined
        : `${noun} "${unknownName}" is unknown; the ${noun}s are ${values.join(', ')}`;
    },
  } as const;
}
