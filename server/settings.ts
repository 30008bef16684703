/** The server's settings with their defaults and checks. */
import { limits } from '../fixtures/contract/limits.ts';
import { type VariantName, variantNames } from '../fixtures/contract/variants.ts';
import { defaultHeaderPrefix, headerPrefixPattern } from '../fixtures/contract/vendor-names.ts';

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
  readonly headerPrefix: string;
  readonly tokenLifetimeSeconds: number;
  readonly linkLifetimeSeconds: number;
  /** Build links from X-Forwarded-Host and X-Forwarded-Proto. */
  readonly trustProxy: boolean;
  /** Differences from the contract that the server takes on. */
  readonly variants: ReadonlySet<VariantName>;
  /** How late records appear under the variant asynchronous-provisioning. */
  readonly provisioningDelayMs: number;
  readonly logLevel: LogLevel;
}

export const defaultSettings: Settings = {
  host: '127.0.0.1',
  port: 8080,
  controlPort: 8081,
  adminEmail: 'admin@example.com',
  autoAccept: false,
  deviceLimit: limits.deviceLimitNone,
  headerPrefix: defaultHeaderPrefix,
  tokenLifetimeSeconds: limits.tokenLifetimeSeconds,
  linkLifetimeSeconds: limits.linkLifetimeSeconds,
  trustProxy: false,
  variants: new Set(),
  provisioningDelayMs: 1000,
  logLevel: 'info',
};

/** A setting that the server cannot start with; the message names it, the value and the way out. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Ten years; far beyond that a time cannot be written as a date any more. */
const LIFETIME_MAX_SECONDS = 3650 * 86_400;

const PROVISIONING_DELAY_MAX_MS = 3_600_000;

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
    `variant "${stranger}" is unknown; there are ${variantNames.join(', ')}`,
  );
  const delayMs = settings.provisioningDelayMs;
  requireSetting(
    Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= PROVISIONING_DELAY_MAX_MS,
    `provisioningDelayMs must be a whole number from 0 to ${PROVISIONING_DELAY_MAX_MS}, not ${delayMs}`,
  );
  requireSetting(
    Number.isSafeInteger(settings.deviceLimit) && settings.deviceLimit >= limits.deviceLimitNone,
    `deviceLimit must be a whole number, or ${limits.deviceLimitNone} for no limit, not ${settings.deviceLimit}`,
  );
  requireSetting(
    /^[^\s:@]+@[^\s:@]+$/.test(settings.adminEmail),
    `admin e-mail "${settings.adminEmail}" must be an address such as admin@example.com`,
  );
  requireSetting(
    settings.adminPassword === undefined || settings.adminPassword.length >= 8,
    'the admin password must have at least 8 characters',
  );
  return settings;
}

function requireSetting(holds: boolean, sentence: string): void {
  if (!holds) throw new SettingError(sentence);
}
