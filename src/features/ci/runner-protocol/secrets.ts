/**
 * Tells a runner where to find the external secrets of a job. The job's own ID token gives access to those services.
 */
import { valuesOf } from '../../../ci/config/variables.ts'
import type { JobOptions } from '../jobs/options.ts'
import type { JobVariable } from '../jobs/variables.ts'

type Message = Readonly<Record<string, unknown>>
type Options = Partial<JobOptions>

/** Undefined if the job names no secrets; the key is omitted then. */
export function secretsOf({ secrets, id_tokens }: Options, variables: readonly JobVariable[]) {
  if (!secrets || Object.keys(secrets).length === 0) return undefined
  const values = valuesOf(variables)
  const [token] = Object.keys(id_tokens ?? {})
  const entries = Object.entries(secrets).map(([name, secret]) => {
    // The runner replaces the variable by the token.
    const jwt = textOf(secret['token']) ?? (token === undefined ? undefined : `$${token}`)
    return [name, { ...whereIs(secret, values, jwt), file: secret['file'] !== false }] as const
  })
  return Object.fromEntries(entries)
}

function whereIs(secret: Message, values: ReadonlyMap<string, string>, jwt: string | undefined): object {
  const value = (name: string) => values.get(name)
  if (secret['vault'] !== undefined) {
    const auth = { name: 'jwt', path: value('VAULT_AUTH_PATH') ?? 'jwt', data: { jwt, role: value('VAULT_AUTH_ROLE') } }
    const server = { url: value('VAULT_SERVER_URL'), namespace: value('VAULT_NAMESPACE'), auth }
    return { vault: { ...vaultLocation(secret['vault']), server } }
  }
  if (secret['gcp_secret_manager'] !== undefined) {
    const server = {
      project_number: value('GCP_PROJECT_NUMBER'),
      workload_identity_federation_pool_id: value('GCP_WORKLOAD_IDENTITY_FEDERATION_POOL_ID'),
      workload_identity_federation_provider_id: value('GCP_WORKLOAD_IDENTITY_FEDERATION_PROVIDER_ID'),
      jwt,
    }
    return { gcp_secret_manager: { ...named(secret['gcp_secret_manager']), server } }
  }
  const server = {
    url: value('AZURE_KEY_VAULT_SERVER_URL'),
    client_id: value('AZURE_CLIENT_ID'),
    tenant_id: value('AZURE_TENANT_ID'),
    jwt,
  }
  return { azure_key_vault: { ...named(secret['azure_key_vault']), server } }
}

const USUAL_ENGINE = 'kv-v2'

/** `path/of/secret/field@engine`, or an object with all parts. */
function vaultLocation(secret: unknown) {
  if (typeof secret !== 'string') {
    const { engine, path, field } = secret as Message
    const { name, path: scope } = (engine ?? {}) as Message
    return {
      engine: { name: textOf(name) ?? USUAL_ENGINE, path: textOf(scope) ?? USUAL_ENGINE },
      path: textOf(path) ?? '',
      field: textOf(field) ?? '',
    }
  }
  const at = secret.lastIndexOf('@')
  const [whole, engine] = at < 0 ? [secret, USUAL_ENGINE] : [secret.slice(0, at), secret.slice(at + 1)]
  const cut = whole.lastIndexOf('/')
  return {
    engine: { name: USUAL_ENGINE, path: engine },
    path: whole.slice(0, Math.max(0, cut)),
    field: whole.slice(cut + 1),
  }
}

function named(secret: unknown) {
  const { name, version } = (typeof secret === 'string' ? { name: secret } : secret) as Message
  return { name: textOf(name) ?? '', version: textOf(version) }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
