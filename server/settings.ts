/** The server's settings with their defaults and checks. */
import { limits } from '../fixtures/contract/limits.ts';
import { type VariantName, variantNames } from '../fixtures/contract/variants.ts';
import { defaultHeaderPrefix, headerPrefixPattern } from '../fixtures/contract/vendor-names.ts';
import type { ConnectionLimits } from './listeners/connection-limits.ts';
import { type TlsSettings, tlsSettingsFault } from './listeners/tls/settings.ts';
import { type RateLimit, rateLimitFault } from './tenants/rate-limits.ts';

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a user of the server may choose. */
export interface Settings {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly controlPort: number;
  readonly adminEmail: string;
  /** Random when absent. */
  readonly adminPassword?: string;
  /** First contact is still refused; the device is accepted right after it. */
  readonly autoAccept: boolean;
  /** How many devices a tenant may accept unless it has a limit of its own; -1 for no limit. */
  readonly deviceLimit: number;
  /** How many keys of devices may wait in a tenant until somebody accepts them. */
  readonly pendingDevicesMax: number;
  readonly headerPrefix: string;
  readonly tokenLifetimeSeconds: number;
  readonly linkLifetimeSeconds: number;
  /** Build links from X-Forwarded-Host and X-Forwarded-Proto. */
  readonly trustProxy: boolean;
  /** Differences from the contract that the server takes on. */
  readonly variants: ReadonlySet<VariantName>;
  /** Seed by which answers take other legal forms; always the usual form when absent. */
  readonly varySeed?: string;
  /** How late records appear under the variant asynchronous-provisioning. */
  readonly provisioningDelayMs: number;
  /** How often each caller may ask; as often as it likes when absent. */
  readonly rateLimit?: RateLimit;
  /** How many entries the journal of each tenant keeps; 0 turns it off. */
  readonly journalEntriesMax: number;
  /** About how many bytes these may take. */
  readonly journalBytesMax: number;
  readonly logLevel: LogLevel;
  /** Refused answers say in a header where they are explained. */
  readonly explainHeader: boolean;
  /** The audit log's CSV disarms what a spreadsheet would run as a formula. */
  readonly spreadsheetSafeCsv: boolean;
  /** Keeps everything over restarts; when absent it is in memory, and goes with the server. */
  readonly dataFolder?: string;
  /** Encrypts the API's listeners; plain HTTP when absent. */
  readonly tls?: TlsSettings;
  /** Towards slow clients, where it differs from the usual one, as in a test of it. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
}

export const defaultSettings: Settings = {
  host: '127.0.0.1',
  port: 8080,
  controlPort: 8081,
  adminEmail: 'admin@example.com',
  autoAccept: false,
  deviceLimit: limits.deviceLimitNone,
  pendingDevicesMax: 100_000,
  headerPrefix: defaultHeaderPrefix,
  tokenLifetimeSeconds: limits.tokenLifetimeSeconds,
  linkLifetimeSeconds: limits.linkLifetimeSeconds,
  trustProxy: false,
  variants: new Set(),
  provisioningDelayMs: 1000,
  journalEntriesMax: 10_000,
  journalBytesMax: 64 * 1024 * 1024,
  logLevel: 'info',
  explainHeader: false,
  spreadsheetSafeCsv: false,
};

/** A setting that the server cannot start with; the message names it, the value and the way out. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Ten years; far beyond that a time cannot be written as a date any more. */
const LIFETIME_MAX_SECONDS = 3650 * 86_400;

const PROVISIONING_DELAY_MAX_MS = 3_600_000;

/** Least and most of what a journal may be told to keep. */
export const journalLimits = {
  journalEntriesMax: [0, 1_000_000],
  journalBytesMax: [65_536, 4_294_967_296],
} as const;

/** Fills in defaults. @throws SettingError */
export function completeSettings(given: Partial<Settings>): Settings {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = { ...defaultSettings, ...Object.fromEntries(known) } as Settings;
  requireSetting(
    headerPrefixPattern.test(settings.headerPrefix),
    `header prefix "${settings.headerPrefix}" must be letters, digits and dashes, as X-SVC`,
  );
  for (const name of ['tokenLifetimeSeconds', 'linkLifetimeSeconds'] as const) {
    const seconds = settings[name];
    requireSetting(
      Number.isInteger(seconds) && seconds > 0 && seconds <= LIFETIME_MAX_SECONDS,
      `${name} must be a whole number from 1 to ${LIFETIME_MAX_SECONDS}, not ${seconds}`,
    );
  }
  const stranger = [...settings.variants].find((name) => !variantNames.includes(name));
  requireSetting(
    stranger === undefined,
    `dialect "${stranger}" is unknown; there are ${variantNames.join(', ')}`,
  );
  const delayMs = settings.provisioningDelayMs;
  requireSetting(
    Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= PROVISIONING_DELAY_MAX_MS,
    `provisioningDelayMs must be a whole number from 0 to ${PROVISIONING_DELAY_MAX_MS}, not ${delayMs}`,
  );
  for (const name of ['journalEntriesMax', 'journalBytesMax'] as const) {
    const [least, most] = journalLimits[name];
    requireSetting(
      Number.isInteger(settings[name]) && settings[name] >= least && settings[name] <= most,
      `${name} must be a whole number from ${least} to ${most}, not ${settings[name]}`,
    );
  }
  requireSetting(
    Number.isSafeInteger(settings.deviceLimit) && settings.deviceLimit >= limits.deviceLimitNone,
    `deviceLimit must be a whole number, or ${limits.deviceLimitNone} for no limit, not ${settings.deviceLimit}`,
  );
  const { pendingDevicesMax } = settings;
  requireSetting(
    Number.isSafeInteger(pendingDevicesMax) && pendingDevicesMax >= 1,
    `pendingDevicesMax must be a whole number from 1, not ${pendingDevicesMax}`,
  );
  const rateFault = settings.rateLimit && rateLimitFault(settings.rateLimit);
  requireSetting(rateFault === undefined, `${rateFault}`);
  requireSetting(
    /^[^\s:@]+@[^\s:@]+$/.test(settings.adminEmail),
    `admin e-mail "${settings.adminEmail}" must be an address such as admin@example.com`,
  );
  requireSetting(
    settings.adminPassword === undefined || settings.adminPassword.length >= 8,
    'the admin password must have at least 8 characters',
  );
  const tlsFault = settings.tls && tlsSettingsFault(settings.tls);
  requireSetting(tlsFault === undefined, `${tlsFault}`);
  return settings;
}

function requireSetting(holds: boolean, sentence: string): void {
  if (!holds) throw new SettingError(sentence);
}
