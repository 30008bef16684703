/** What the words of a plan come to: the plan, with units in the names and nothing to be looked up. */
import type { Cohort } from './cohort.ts';
import type { Incident, LoadStage } from './load-fields.ts';
import type { FleetPlan } from './plan.ts';
import type { PlanWords } from './plan-words.ts';

type CohortWords = NonNullable<PlanWords['cohort']>[number];
type CohortPart = Omit<CohortWords, 'name' | 'weight'>;
type BackOffWords = NonNullable<CohortPart['backOff']>;
type LinkWords = NonNullable<CohortPart['link']>;
type StageWords = NonNullable<PlanWords['stage']>[number];
type IncidentWords = NonNullable<PlanWords['incident']>[number];

/** Words that a plan cannot do without. */
type Needed =
  | 'url'
  | 'devices'
  | 'seed'
  | 'poll'
  | 'inventory'
  | 'ramp'
  | 'headerPrefix'
  | 'requestTimeLimit';

/** Words with nothing missing; certificates stand in the place of their files, a user in that of its words. */
export type WholePlanWords = Omit<
  PlanWords,
  'ca' | 'cert' | 'key' | 'accept' | 'email' | 'password' | 'token' | 'acceptWith'
> & {
  readonly [Name in Needed]: NonNullable<PlanWords[Name]>;
} & { readonly tls?: FleetPlan['tls']; readonly acceptWith?: FleetPlan['acceptWith'] };

/** The plan that the words describe; not yet checked. */
export function planOfWords(words: WholePlanWords): FleetPlan {
  const { cohort, stage, incident, arrivals } = words;
  return given({
    baseUrl: words.url,
    devices: words.devices,
    seed: words.seed,
    ...fieldsOf(words),
    keys: words.keys ? { ...noKeys, ...words.keys } : { rsa: 1, ecdsa: 1, ed25519: 1 },
    behaviours: weights(words.behaviour ?? { steady: 1 }),
    connect: words.connect ?? false,
    pollIntervalMs: words.poll,
    inventoryIntervalMs: words.inventory,
    rampMs: words.ramp,
    headerPrefix: words.headerPrefix,
    requestTimeLimitMs: words.requestTimeLimit,
    behaviourFiles: words.behaviourFile,
    cohorts: cohort?.map(cohortOf),
    stages: stage?.map(stageOf),
    scenes: incident?.map(incidentOf),
    arrivals: arrivals && arrivalsOf(arrivals),
    durationMs: words.duration,
    iterations: words.iterations,
    until: words.until,
    drainMs: words.drain,
    thresholds: words.threshold,
    abortOnThreshold: words.abortOnThreshold,
    checkShare: words.checkShare,
    tenantToken: words.tenantToken,
    acceptWith: words.acceptWith,
    deploy: words.deploy,
    deploymentName: words.deploymentName,
    deviceType: words.deviceType,
    idPrefix: words.idPrefix,
    idData: words.idData,
    idDataFile: words.idDataCsv,
    rsaPool: { size: words.rsaPool, bits: words.rsaBits, folder: words.rsaPoolFolder },
    keyFolder: words.keyFolder,
    state: words.state,
    ledger: words.ledger,
    sourceAddresses: words.sourceAddresses,
    tls: words.tls,
  });
}

const noKeys = { rsa: 0, ecdsa: 0, ed25519: 0 };

function fieldsOf(part: CohortPart) {
  return given({
    keys: part.keys && { ...noKeys, ...part.keys },
    behaviours: part.behaviour && weights(part.behaviour),
    behaviourParameters: part.behaviourParameter,
    pollIntervalMs: part.poll,
    pollJitterShare: part.pollJitter,
    phase: part.phase,
    inventoryIntervalMs: part.inventory,
    connect: part.connect,
    download: part.download,
    backOff: part.backOff && backOffOf(part.backOff),
    link: part.link && linkOf(part.link),
  });
}

function weights(shares: Readonly<Record<string, number>>): Cohort['behaviours'] {
  return Object.entries(shares).map(([name, weight]) => ({ name, weight }));
}

function backOffOf({ kind, least, most, obeysRetryAfter }: BackOffWords) {
  return given({ kind, leastMs: least, mostMs: most, obeysRetryAfter });
}

function linkOf({ latency, jitter, loss, bytesPerSecond }: LinkWords) {
  return given({ latencyMs: latency, jitterMs: jitter, lossShare: loss, bytesPerSecond });
}

function cohortOf({ name, weight, ...part }: CohortWords) {
  return { name, weight, ...fieldsOf(part) };
}

function stageOf({ devices, ...kinds }: StageWords): LoadStage {
  const [kind = 'hold', durationMs = 0] =
    (Object.entries(kinds) as [LoadStage['kind'], number | undefined][]).find(
      ([, length]) => length !== undefined,
    ) ?? [];
  return given({ kind, durationMs, devices });
}

function incidentOf(words: IncidentWords): Incident {
  const { name, at, within, jitter, lasting, cohort, between } = words;
  return given({
    name,
    atMs: at,
    withinMs: within,
    jitter,
    lastingMs: lasting,
    cohort,
    between: between?.map(backOffOf),
  });
}

function arrivalsOf(rates: NonNullable<PlanWords['arrivals']>): FleetPlan['arrivals'] {
  return Object.entries(rates).flatMap(([event, perSecond]) =>
    perSecond === undefined ? [] : [{ event: event as keyof typeof rates, perSecond }],
  );
}

/** Without the members that are undefined: in a plan, absent and undefined are told apart. */
function given<Members extends object>(members: Members): Given<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Members>;
}

type Given<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};
