/**
 * Compares the declared capabilities of a target with the probed ones. The declaration determines
 * which cases run; the probe determines this for undeclared capabilities. A contradiction between
 * them is reported as a separate verdict.
 */
import * as v from 'valibot';
import { type Capability, capabilities, capabilityNames } from '../context/capabilities.ts';
import type { CapabilityRow, CaseVerdict } from '../result/result.ts';
import { readControlFile } from './control-file.ts';
import type { ProbeResult } from './probe.ts';

/** The declared and the excluded capabilities of a target. */
export interface Declaration {
  readonly with?: readonly Capability[];
  readonly without?: readonly Capability[];
}

const names = v.array(
  v.picklist(capabilityNames, `must be capabilities: ${capabilityNames.join(', ')}`),
  'must be a list of capabilities',
);
const fileShape = v.strictObject({ with: v.optional(names, []), without: v.optional(names, []) });

/**
 * Parses a declaration, YAML or JSON with the lists `with` and `without`. @throws ControlFileError
 */
export function readDeclaration(text: string): Declaration {
  return readControlFile(text, fileShape);
}

/** The finding on one capability. */
export interface CapabilityFinding {
  readonly capability: Capability;
  readonly row: CapabilityRow;
  /** True if cases that need the capability are run. */
  readonly isOffered: boolean;
  /** Set when declaration and probe contradict each other. */
  readonly verdict?: CaseVerdict;
}

/** Compares the declaration of a capability with its probe. */
export function compareCapability(
  capability: Capability,
  declaration: Declaration,
  probed: ProbeResult,
): CapabilityFinding {
  const declaredAs = declaredState(capability, declaration);
  const { found, evidence } = probed;
  const isOffered = declaredAs === 'undeclared' ? found !== 'missing' : declaredAs === 'offered';
  const row = { capability, declared: declaredAs, probed: found, evidence };
  const contradiction = contradictionOf(row);
  if (contradiction === undefined) return { capability, row, isOffered };
  const contradictedRow = { ...row, contradiction };
  return {
    capability,
    row: contradictedRow,
    isOffered,
    verdict: verdictOn(contradictedRow, capability, probed),
  };
}

function declaredState(
  capability: Capability,
  { with: offered = [], without = [] }: Declaration,
): CapabilityRow['declared'] {
  if (offered.includes(capability)) return 'offered';
  return without.includes(capability) ? 'missing' : 'undeclared';
}

function contradictionOf({ capability, declared, probed }: CapabilityRow): string | undefined {
  if (declared === 'offered' && probed === 'missing') {
    return `${capability} is declared as offered, but the target does not have it`;
  }
  if (declared === 'missing' && probed === 'offered') {
    return `${capability} is declared as missing, but the target has it`;
  }
  return undefined;
}

/** The ID of the verdict on a declared capability. */
export function capabilityCaseId(capability: Capability): string {
  return `capabilities/${capability}`;
}

/** A declared but missing capability fails; an undeclared one that exists is only reported. */
function verdictOn(row: CapabilityRow, capability: Capability, probed: ProbeResult): CaseVerdict {
  const { offers } = capabilities[capability];
  const { evidence, exchanges } = probed;
  const listing = {
    id: capabilityCaseId(capability),
    title: `The target offers what was declared: ${offers}.`,
    scenario: 'Capabilities',
    start: 'a target with declared capabilities',
    level: 'should',
    requirements: [],
    covers: [],
    needs: [],
    effect: 'read',
    sentences: [],
    startedMs: 0,
    durationMs: 0,
    exchanges,
  } as const;
  return row.probed === 'missing'
    ? { ...listing, verdict: 'fail', expected: `${capability}, as declared`, actual: evidence }
    : { ...listing, verdict: 'observed', observation: `${row.contradiction}: ${evidence}` };
}
