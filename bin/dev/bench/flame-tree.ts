/** What a CPU profile of Node says, as a tree of frames with the time spent in each. */

/** The parts of a `.cpuprofile` file that are read. Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      /** From 0; -1 for what is no code. */
      readonly lineNumber: number;
    };
    readonly children?: readonly number[];
  }[];
  /** The node that was running, at each sample. */
  readonly samples: readonly number[];
  /** Time from the sample before. */
  readonly timeDeltas: readonly number[];
}

/** A function as it was called from the frame above it. */
export interface Frame {
  readonly name: string;
  /** Where its code comes from: ours, a package, Node itself, or the engine without any code. */
  readonly from: 'own' | 'package' | 'node' | 'engine';
  /** Such as `server/http/body.ts:40`; empty for what is no code. */
  readonly place: string;
  readonly selfMs: number;
  /** With all frames below. */
  readonly totalMs: number;
  /** The longest first. */
  readonly children: readonly Frame[];
}

/** Time of a function over all places from which it was called. */
export interface FunctionTime extends Pick<Frame, 'name' | 'place' | 'selfMs' | 'totalMs'> {}

const US_PER_MS = 1000;
/** Not a use of the CPU. */
const idle = '(idle)';

/**
 * Returns the root of the tree; time in which the process was idle is left out.
 * @param base folder of the code that is ours, as a file URL with a slash at its end
 */
export function flameTree({ nodes, samples, timeDeltas }: CpuProfile, base: string): Frame {
  const spentMs = new Map<number, number>();
  for (const [at, id] of samples.entries()) {
    spentMs.set(id, (spentMs.get(id) ?? 0) + (timeDeltas[at] ?? 0) / US_PER_MS);
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const frameOf = (id: number): Frame[] => {
    const node = byId.get(id);
    if (!node || node.callFrame.functionName === idle) return [];
    const children = (node.children ?? []).flatMap(frameOf);
    const selfMs = spentMs.get(id) ?? 0;
    return [
      {
        ...nameOf(node.callFrame, base),
        selfMs,
        totalMs: children.reduce((sum, { totalMs }) => sum + totalMs, selfMs),
        children: children.toSorted((one, other) => other.totalMs - one.totalMs),
      },
    ];
  };
  const [root] = frameOf(nodes[0]?.id ?? 0);
  if (!root) throw new Error('the profile holds no frames');
  return root;
}

/** Returns every function once, the one with most time of its own first. */
export function functionTimes(root: Frame): readonly FunctionTime[] {
  const times = new Map<string, FunctionTime>();
  const visit = (frame: Frame, above: ReadonlySet<string>): void => {
    const { name, place, selfMs, totalMs, children } = frame;
    const key = `${name} ${place}`;
    const before = times.get(key) ?? { name, place, selfMs: 0, totalMs: 0 };
    // What is called from itself is in its total already.
    const more = above.has(key) ? 0 : totalMs;
    times.set(key, { ...before, selfMs: before.selfMs + selfMs, totalMs: before.totalMs + more });
    const inside = new Set(above).add(key);
    for (const child of children) visit(child, inside);
  };
  visit(root, new Set());
  return [...times.values()].toSorted((one, other) => other.selfMs - one.selfMs);
}

function nameOf(
  { functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame'],
  base: string,
): Pick<Frame, 'name' | 'from' | 'place'> {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return { name, from: 'engine', place: '' };
  const folder = '/node_modules/';
  const at = url.indexOf(folder);
  const inPackage = at < 0 ? undefined : url.slice(at + folder.length);
  const file = inPackage ?? (url.startsWith(base) ? url.slice(base.length) : url);
  const from = url.startsWith('node:') ? 'node' : inPackage === undefined ? 'own' : 'package';
  return { name, from, place: `${file}:${lineNumber + 1}` };
}
