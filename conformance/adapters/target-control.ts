/** Sets up the control of a target: the target admin, the control capabilities, the API parts. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { controlPaths } from '../../fixtures/control/control-listener.ts';
import { type Capability, capabilitiesOf, operationsOf } from '../context/capabilities.ts';
import type { Control } from '../context/control.ts';
import type { UserToken } from '../context/management-admin.ts';
import { ApiCaller, bearer, requestOf } from '../target/call.ts';
import type { Mask } from '../target/mask.ts';
import { type Login, logIn, type SuiteCredentials } from '../target/setup.ts';
import { ControlRefusedError, gatewayErrors, HookLoginError } from '../target/setup-error.ts';
import type { Target, TargetClient } from '../target/target.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import type { AdminSource } from './admin-source.ts';
import { type CapabilityFinding, compareCapability, type Declaration } from './declaration.ts';
import { HookAdmin } from './hooks/hook-admin.ts';
import { actAsUser, HookControl } from './hooks/hook-control.ts';
import type { HookFile } from './hooks/hook-file.ts';
import { Hooks } from './hooks/hooks.ts';
import { type ControlAddress, HttpControl } from './http-control.ts';
import { MissingCapability } from './missing-capability.ts';
import { type ProbeResult, probePart, unknownStatuses } from './probe.ts';

/** Options for the target besides its address. */
export interface TargetControlOptions {
  /** A user of the management API; with `none` only the cases that need no user are run. */
  readonly credentials: SuiteCredentials;
  /**
   * Commands that control the target. If one of them acts as a user, they replace the management
   * API.
   */
  readonly hooks?: HookFile;
  /** The control listener of a testbed; overrides the control steps of the hooks. */
  readonly control?: ControlAddress;
  /** The declared and the excluded capabilities of the target. */
  readonly declared?: Declaration;
  /** False to send no probes: undeclared parts are then assumed to exist. */
  readonly probe?: boolean;
  /** Aborts the probes with the run. */
  readonly signal?: AbortSignal;
}

/** The means of control of a run. */
export interface TargetControl {
  readonly admin: AdminSource;
  readonly control: Control | undefined;
  /** The capabilities that cases may rely on. */
  readonly offered: ReadonlySet<Capability>;
  readonly findings: readonly CapabilityFinding[];
  /** The token of the user, if the suite has one. */
  readonly user: UserToken | undefined;
}

interface RunTarget {
  readonly target: Target;
  readonly client: TargetClient;
  readonly mask: Mask;
  readonly baseUrl: string;
}

/** Logs in and detects the capabilities. @throws SetupError */
export async function openTargetControl(
  runTarget: RunTarget,
  options: TargetControlOptions,
): Promise<TargetControl> {
  const { target, client, mask, baseUrl } = runTarget;
  const { credentials, hooks: hookFile, control: address } = options;
  maskSecrets(mask, credentials, address);
  const hooks = hookFile && new Hooks(hookFile, baseUrl);
  const login = await loginOf(runTarget, { credentials, hooks });
  const user = login.kind === 'token' ? { ...login } : undefined;
  const admin = adminOf(login, { hooks, user });
  if (address) await checkControl(client, address);
  const isControlled = address !== undefined || hooks !== undefined;
  const hasTenants = isControlled && (await findTenants(client, user?.token));
  const afterAdvance = async (): Promise<void> => {
    if (user === undefined || (credentials !== 'none' && 'token' in credentials)) return;
    const renewed = await loginOf(runTarget, { credentials, hooks });
    if (renewed.kind === 'token') Object.assign(user, renewed);
  };
  const control = controlOf(target, { address, hooks, hasTenants, afterAdvance });
  const access = { admin, control, userToken: user?.token };
  const findings = await findCapabilities(target, options, access);
  const capabilities = findings
    .filter(({ isOffered }) => isOffered)
    .map(({ capability }) => capability);
  return { admin, control, offered: new Set(capabilities), findings, user };
}

/** Logs the user in by the credentials, or else by the hook. */
async function loginOf(
  { client, mask }: RunTarget,
  { credentials, hooks }: { credentials: SuiteCredentials; hooks: Hooks | undefined },
): Promise<Login> {
  const login = await logIn(client, credentials, mask);
  if (login.kind === 'token' || hooks === undefined) return login;
  const token = await hookLogin(hooks, client, mask);
  return token === undefined ? login : { kind: 'token', token };
}

/** Returns the hooks if they act as a user; otherwise the user of the management API. */
function adminOf(
  login: Login,
  { hooks, user }: { hooks: Hooks | undefined; user: (Login & UserToken) | undefined },
): AdminSource {
  if (hooks !== undefined && actAsUser(hooks)) {
    const adminOn = (line: TargetClient) => new HookAdmin(hooks, line, user);
    return { kind: 'hooks', hooks: { adminOn } };
  }
  return user ?? login;
}

function maskSecrets(mask: Mask, credentials: SuiteCredentials, control?: ControlAddress): void {
  if (control) mask.addSecret(control.token, 'control-token');
  if (credentials === 'none') return;
  if ('token' in credentials) mask.addSecret(credentials.token, 'user-token');
  else mask.addSecret(credentials.password, 'password');
}

/** Returns the token of the hooks' user; undefined when no hook logs one in. */
async function hookLogin(
  hooks: Hooks,
  client: TargetClient,
  mask: Mask,
): Promise<string | undefined> {
  if (!hooks.has('login')) return undefined;
  try {
    const { token } = await hooks.run(client, 'login');
    mask.addSecret(token, 'user-token');
    return token;
  } catch (error) {
    if (error instanceof MissingCapability) return undefined;
    throw new HookLoginError(error instanceof Error ? error.message : String(error));
  }
}

/** Checks that the control listener admits the suite. @throws ControlRefusedError */
export async function checkControl(
  client: TargetClient,
  { url, token }: ControlAddress,
): Promise<void> {
  try {
    const request = { method: 'GET', url: url + controlPaths.tenants, headers: bearer(token) };
    const { status } = await client.send(request);
    if (status === 200) return;
    throw new ControlRefusedError(url, `status ${status}`, gatewayErrors.includes(status));
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    throw new ControlRefusedError(url, error.message, true);
  }
}

/** Returns false for the open-source edition, which has no tenants and ignores tenant_token. */
async function findTenants(client: TargetClient, userToken: string | undefined): Promise<boolean> {
  const headers = userToken === undefined ? {} : bearer(userToken);
  const request = requestOf(managementOperations['get-own-tenant'], { headers });
  try {
    const { status } = await client.send(request);
    return !unknownStatuses.includes(status);
  } catch (error) {
    if (error instanceof TransportFailure) return true;
    throw error;
  }
}

function controlOf(
  target: Target,
  options: {
    readonly address: ControlAddress | undefined;
    readonly hooks: Hooks | undefined;
    readonly hasTenants: boolean;
    /** Logs the user in again, since the tokens from before may have expired. */
    readonly afterAdvance: () => Promise<void>;
  },
): Control | undefined {
  const { hasTenants, afterAdvance } = options;
  if (options.address) return new HttpControl(options.address, target.newClient(), { hasTenants });
  return (
    options.hooks &&
    new HookControl(options.hooks, target.newClient(), { hasTenants, afterAdvance })
  );
}

interface TargetAccess {
  readonly admin: AdminSource;
  readonly control: Control | undefined;
  readonly userToken: string | undefined;
}

/** Compares every capability; the probes run in parallel, since one may get no response. */
async function findCapabilities(
  target: Target,
  { declared = {}, probe = true, signal }: TargetControlOptions,
  { admin, control, userToken }: TargetAccess,
): Promise<readonly CapabilityFinding[]> {
  const isThere = admin.kind === 'token' || admin.kind === 'hooks';
  const user = compareGiven('user', declared, isThere);
  const parts = capabilitiesOf('part').map(async (part) => {
    const probed = probe ? await probeOn(target.newClient({ signal }), part, userToken) : unprobed;
    return compareCapability(part, declared, probed);
  });
  const behaviours = capabilitiesOf('behaviour').map((name) =>
    compareCapability(name, declared, unprobed),
  );
  const controls = capabilitiesOf('control').map((name) =>
    compareGiven(name, declared, control?.offers.has(name) ?? false),
  );
  return [user, ...(await Promise.all(parts)), ...behaviours, ...controls];
}

const unprobed: ProbeResult = { found: 'unknown', evidence: 'not probed', exchanges: [] };

/** Returns the finding on a capability that depends on the options of the run, not on a probe. */
function compareGiven(
  name: Capability,
  declared: Declaration,
  isThere: boolean,
): CapabilityFinding {
  const probed: ProbeResult = isThere
    ? { found: 'offered', evidence: 'given to the run', exchanges: [] }
    : { found: 'missing', evidence: 'not given to the run', exchanges: [] };
  const finding = compareCapability(name, declared, probed);
  return { ...finding, isOffered: finding.isOffered && isThere };
}

function probeOn(client: TargetClient, part: Capability, userToken?: string): Promise<ProbeResult> {
  const listsAuditLogs = operationsOf(part).includes('list-audit-logs');
  const headers = listsAuditLogs && userToken !== undefined ? bearer(userToken) : {};
  return probePart(part, client, new ApiCaller(client, headers));
}
