/** What the control listener answers, as far as the page reads it. */

/** A tenant in the list of them. */
export interface TenantView {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly tenantToken: string;
  readonly createdAt: string;
}

/** A device in the list of all. */
export interface DeviceView {
  readonly id: string;
  readonly identity: string;
  readonly status: string;
  readonly connected: boolean;
  readonly deviceType?: string;
  readonly artifactName?: string;
  readonly checkedInAt?: string;
}

/** A deployment with its progress. */
interface DeploymentView {
  readonly id: string;
  readonly name: string;
  readonly artifactName: string;
  readonly type: string;
  readonly status: string;
  readonly createdAt: string;
  readonly deviceCount: number;
  readonly statistics: Readonly<Record<string, number>>;
}

/** The server in one look. */
export interface Overview {
  readonly deviceCounts: Readonly<Record<string, number>>;
  readonly deployments: readonly DeploymentView[];
  readonly stalls: { readonly count: number; readonly worstMs: number; readonly worstIn: string };
}

/** An entry of the journal; what has a body only where it was asked for whole. */
export interface Entry {
  readonly sequence: number;
  readonly kind: 'exchange' | 'frame' | 'unreadable';
  readonly at: string;
  readonly requestId: string;
  readonly operation?: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly tookMs?: number;
  readonly device?: { readonly id?: string; readonly identity?: string };
  readonly deployment?: string;
  readonly refusal?: { readonly status: number; readonly error: string };
  readonly noUpdate?: { readonly outcome: string; readonly because: string };
  readonly fault?: unknown;
  readonly from?: string;
  readonly typ?: string;
  readonly bytes?: number;
  readonly requestBytes?: number;
  readonly responseBytes?: number;
  readonly requestHeaders?: readonly (readonly [string, string])[];
  readonly requestBody?: unknown;
  readonly responseHeaders?: readonly (readonly [string, string])[];
  readonly responseBody?: unknown;
  readonly body?: unknown;
}

/** A page of the journal. */
export interface JournalPage {
  readonly size: { readonly added: number; readonly kept: number; readonly dropped: number };
  readonly next: number;
  readonly entries: readonly Entry[];
}

/** Why a device gets no update, or that it gets one. */
export interface NoUpdate {
  readonly requestId?: string;
  readonly at: string;
  readonly device: { readonly id: string; readonly identity?: string };
  readonly polled: string;
  readonly outcome: 'no update' | 'up to date' | 'update';
  readonly rule?: string;
  readonly deploymentId?: string;
  readonly because: string;
  readonly passed: readonly { readonly rule: string; readonly sentence: string }[];
  readonly deployments: readonly string[];
}

/** What the signature doctor found. */
export interface SignatureFinding {
  readonly fits: boolean;
  readonly sentence: string;
  readonly detail?: string;
  readonly remedy?: string;
  /** Why the examined request was refused. */
  readonly refusal?: { readonly status: number; readonly error: string };
}

/** Why a request was refused, and how it would succeed. */
export interface Refused {
  readonly requestId: string;
  readonly status: number;
  readonly sentence: string;
  readonly rule: {
    readonly heading: string;
    readonly sentence: string;
    readonly requirements: readonly string[];
  };
  readonly wrong: { readonly path: string; readonly expected?: string; readonly actual?: string };
  readonly diagnosis?: {
    readonly mistake: string;
    readonly sentence: string;
    readonly detail?: string;
    readonly remedy?: string;
  };
  readonly first?: string;
  readonly correctedRequest?: { readonly method: string; readonly path: string };
  readonly isUnchanged?: true;
  readonly command?: string;
  readonly needs: Readonly<Record<string, string>>;
}
