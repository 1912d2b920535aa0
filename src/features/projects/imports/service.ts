import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { invalid, Refusal } from '../../../errors.ts'
import { UnsafeArgument } from '../../../git/process/arguments.ts'
import { splitAddress } from '../../../git/storage/remote.ts'
import { AddressRefused, checkTarget, resolvePublic } from '../../../outbound/guard.ts'
import { outboundGuard } from '../../instance/settings/outbound.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { scheduleProvisioning } from '../repositories/provisioning.ts'
import { PROVISIONING } from '../projects/model.ts'

const LONGEST = 2000

export interface CheckedImport {
  /** Without credentials. */
  readonly import_url: string
  readonly import_credentials_sealed: string | null
}

/**
 * Validates the URL. Rejects invalid URLs and targets that users must not reach through this forge. An unresolved host
 * name is accepted, because the import resolves it again.
 */
export async function checkedImport(app: App, given: string): Promise<CheckedImport> {
  const { address, credentials } = parsed(given)
  try {
    const guard = await guardFor(app)
    // A local host name that the resolver does not know now may resolve later.
    checkTarget(address, { ...guard, namesPass: true })
    await resolvePublic(address, guard)
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error
    const fault = error.reason === 'malformed' ? NO_ADDRESS : 'imports are not allowed from that URL'
    if (error.reason !== 'unresolved') throw invalid({ import_url: [fault] })
  }
  return {
    import_url: address,
    import_credentials_sealed: credentials && app.vault.seal(JSON.stringify(credentials)),
  }
}

const NO_ADDRESS = 'must be a valid URL'

function parsed(given: string): ReturnType<typeof splitAddress> {
  try {
    if (given.length <= LONGEST) return splitAddress(given.trim())
  } catch (error) {
    if (!(error instanceof UnsafeArgument)) throw error
  }
  throw invalid({ import_url: [NO_ADDRESS] })
}

/**
 * Checked again before every connection, because names may resolve differently. A forge does not import from itself.
 */
export async function guardFor(app: App) {
  const { ownUrl, pinned: _, ...guard } = outboundGuard(app, 'hooks', await currentSettings(app))
  return { ...guard, ownHosts: [new URL(ownUrl).host] }
}

export const IMPORT_JOB = { name: 'projects.import' }

export async function scheduleImport(app: TransactionApp, project: { id: number }): Promise<void> {
  await scheduleProvisioning(app, IMPORT_JOB, { id: project.id })
}

/** A running import notices the cancellation within moments. A scheduled one finds nothing to do. */
export async function cancelImport(app: App, { id }: { id: number }): Promise<void> {
  const { numUpdatedRows } = await app.db
    .updateTable('projects')
    .set({ import_status: 'failed', import_error: 'The import was cancelled', updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .where('import_url', 'is not', null)
    .where('import_status', 'in', PROVISIONING)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new Refusal('not_modified')
}
