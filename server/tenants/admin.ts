/** The user whom the server names when it is ready: made at the first start, kept at later ones. */
import { hashPassword, passwordFits } from '../crypto/passwords.ts';
import type { Services } from '../pipeline/services.ts';
import { SettingError } from '../settings.ts';
import type { DataFolder } from '../store/data-folder.ts';
import { createAdmin, preparedAdmin } from './tenants.ts';
import { issueUserToken } from './user-tokens.ts';

/** The admin, signed in. */
export interface SignedInAdmin {
  readonly adminEmail: string;
  /** Empty when it was changed since it was made here: only its hash is known. */
  readonly adminPassword: string;
  /** A user's token for the management API. */
  readonly adminToken: string;
}

const passwordSecret = 'admin password';

/**
 * Makes the admin of the settings, or takes the one that is there; a password of the settings
 * replaces his.
 * @throws SettingError when the e-mail is another tenant's user
 */
export async function signedInAdmin(
  services: Services,
  data: DataFolder | undefined,
): Promise<SignedInAdmin> {
  const { tenants, settings, clock } = services;
  const { id: userId, email, password } = await adminOf(services, data);
  const lifetimeSeconds = settings.tokenLifetimeSeconds;
  const wanted = { userId, kind: 'first', nowMs: clock.now(), lifetimeSeconds } as const;
  return {
    adminEmail: email,
    adminPassword: password,
    adminToken: issueUserToken(services, tenants.first, wanted),
  };
}

async function adminOf(services: Services, data: DataFolder | undefined) {
  const { tenants, settings, random, clock } = services;
  const { adminEmail: email, adminPassword: password } = settings;
  const { store } = tenants.first;
  const known = store.users.findByEmail(email);
  if (known && password === undefined) {
    const made = (await data?.secret(passwordSecret, () => Buffer.alloc(0)))?.toString() ?? '';
    return { ...known, password: (await passwordFits(made, known.passwordHash)) ? made : '' };
  }
  if (known && password !== undefined) {
    const passwordHash = await hashPassword(password, random);
    store.users.change(known.id, { passwordHash }, clock.now());
    return { ...known, password };
  }
  if (tenants.findByEmail(email)) {
    throw new SettingError(
      `admin e-mail "${email}" belongs to another tenant of this data folder; choose another address`,
    );
  }
  const prepared = await preparedAdmin({ email, password }, { random });
  const admin = createAdmin(tenants.first, prepared, { clock });
  // One that nobody chose is shown again at the next start, or nobody would know it.
  if (password === undefined) data?.keepSecret(passwordSecret, Buffer.from(admin.password));
  return admin;
}
