/** Errors that keep a run from starting: one clear sentence each, with a remedy. */
import { durationText } from '../../fixtures/base/duration.ts';

/** The statuses with which a gateway answers while the server behind it is down. */
export const gatewayErrors: readonly number[] = [502, 503, 504];

/** A run could not start. */
export abstract class SetupError extends Error {
  /** Stable name of the cause. */
  abstract readonly code: string;
  /** True if a target that is starting causes this error, so that waiting may help. */
  readonly isStarting: boolean = false;
}

/** The target was still starting at the end of the time that the run waits for it. */
export class NotStartedError extends SetupError {
  readonly code = 'not-started';

  /** @param lastError the error of the last attempt */
  constructor(waitedMs: number, lastError: SetupError) {
    super(`the target did not start within ${durationText(waitedMs)}: ${lastError.message}`);
    this.name = 'NotStartedError';
  }
}

/** The base URL is not an HTTP URL. */
export class BaseUrlError extends SetupError {
  readonly code = 'base-url-malformed';

  constructor(baseUrl: string) {
    super(`"${baseUrl}" is not a base URL; give one such as http://127.0.0.1:8080`);
    this.name = 'BaseUrlError';
  }
}

/** Nothing answers at the base URL. */
export class UnreachableError extends SetupError {
  readonly code = 'unreachable';
  override readonly isStarting = true;

  constructor(baseUrl: string, cause: Error) {
    super(`nothing answers at ${baseUrl} (${cause.message}); start the server, or check --url`, {
      cause,
    });
    this.name = 'UnreachableError';
  }
}

/** The listener at the base URL does not answer with HTTP. */
export class UnresponsiveTargetError extends SetupError {
  readonly code = 'no-response';
  override readonly isStarting = true;

  constructor(baseUrl: string, cause: Error) {
    super(
      `${baseUrl} accepts connections but does not answer HTTP requests (${cause.message}); ` +
        'check that the server is running, or check --url',
      { cause },
    );
    this.name = 'UnresponsiveTargetError';
  }
}

/** The server at the base URL does not implement this API. */
export class WrongTargetError extends SetupError {
  readonly code = 'wrong-target';
  override readonly isStarting: boolean;

  /** @param came the response that was received. @param remedy the advice for the user */
  constructor(baseUrl: string, came: string, remedy: string, isStarting = false) {
    super(`${baseUrl} answers ${came}; ${remedy}`);
    this.name = 'WrongTargetError';
    this.isStarting = isStarting;
  }
}

/** The server's certificate is not trusted. */
export class UntrustedCertificateError extends SetupError {
  readonly code = 'certificate-not-trusted';

  constructor(baseUrl: string, cause: Error) {
    super(
      `the certificate of ${baseUrl} is not trusted (${cause.message}); ` +
        'give the certificate of its authority with --ca',
      { cause },
    );
    this.name = 'UntrustedCertificateError';
  }
}

/** The management API refuses the credentials. */
export class LoginRefusedError extends SetupError {
  readonly code = 'login-refused';

  constructor(who: string, status: number) {
    super(
      `the management API refuses ${who} with status ${status}; ` +
        'check the credentials, or give --anonymous to run only the cases that need no user',
    );
    this.name = 'LoginRefusedError';
  }
}

/** The user may not do what the selected cases do as a user. */
export class MissingRightsError extends SetupError {
  readonly code = 'unauthorized';

  constructor(missingRights: string) {
    super(
      `${missingRights}; give the user a role with this right, ` +
        'or add --skip-unauthorized to skip the cases that need it',
    );
    this.name = 'MissingRightsError';
  }
}

/** The control listener refuses the suite, or does not exist. */
export class ControlRefusedError extends SetupError {
  readonly code = 'control-refused';
  override readonly isStarting: boolean;

  constructor(url: string, observation: string, isStarting: boolean) {
    super(
      `the control listener ${url} cannot be used (${observation}); ` +
        'check --control-url and --control-token, or omit both to skip the cases that need them',
    );
    this.name = 'ControlRefusedError';
    this.isStarting = isStarting;
  }
}

/** The hook that logs a user in has failed. */
export class HookLoginError extends SetupError {
  readonly code = 'hook-login-failed';

  constructor(reason: string) {
    super(`${reason}; fix the hook, or omit the step to skip the cases that need a user's token`);
    this.name = 'HookLoginError';
  }
}

/** The login was answered without a user token. */
export class AdminUnusableError extends SetupError {
  readonly code = 'user-unusable';
  override readonly isStarting: boolean;

  constructor(
    reason: string,
    remedy = 'without a user, nothing can be removed',
    isStarting = false,
  ) {
    super(`${reason}; ${remedy}`);
    this.name = 'AdminUnusableError';
    this.isStarting = isStarting;
  }
}

/** The server accepts devices that no user has accepted, so most cases cannot begin. */
export class AutoAcceptingTargetError extends SetupError {
  static readonly code = 'accepts-every-device';
  readonly code = AutoAcceptingTargetError.code;

  constructor(baseUrl: string) {
    super(
      `${baseUrl} accepts new devices automatically, but the suite needs devices that wait for a user; ` +
        'switch that off (fleetbed serve: start it without --auto-accept)',
    );
    this.name = 'AutoAcceptingTargetError';
  }
}
