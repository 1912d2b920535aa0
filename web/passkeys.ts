/** Passkeys, through the WebAuthn API of the browser. */
import * as t from './texts/user-settings.ts'

/** Whether this browser supports passkeys. Always false on the server. */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential

type Made = PublicKeyCredential | null

/** Creates a passkey, in the form that the API takes. */
export async function makePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  return jsonOf(await attempt(() => navigator.credentials.create({ publicKey })))
}

/** Signs with a passkey. */
export async function showPasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)
  return jsonOf(await attempt(() => navigator.credentials.get({ publicKey })))
}

const jsonOf = (made: Made): Record<string, unknown> => ({ ...made!.toJSON() })

const FAULTS: Record<string, string> = {
  NotAllowedError: t.theRequestWasCancelled,
  InvalidStateError: t.thisDeviceAlreadyHasPasskey,
  SecurityError: t.passkeysRequireHttpsAndDomainName,
}

async function attempt(ask: () => Promise<Credential | null>): Promise<Made> {
  try {
    return (await ask()) as Made
  } catch (error) {
    const fault = error instanceof DOMException ? FAULTS[error.name] : undefined
    throw fault ? new Error(fault, { cause: error }) : error
  }
}
