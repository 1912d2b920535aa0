/**
 * Stores verification results, so that a signature stays verified after the deletion of its key. An unverified
 * signature is checked again when a key or an address is added that may change the result.
 */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { findCommit, resolveCommits } from '../../../git/objects/commits.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { readRefs } from '../../../git/refs/ref-files.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { kindOf } from '../../../git/objects/signatures.ts'
import { transact } from '../../../store/transact.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { branchOf, isNewTip, tagOf, type Update } from '../gate/updates.ts'
import { findStoredSignature, findSigned, findUnkept, lockSigningKeys, type StoredSignature } from './queries.ts'
import { verifyAll, type Verification } from './verification.ts'

/** Null without a signature. */
export async function signatureOf(
  app: App,
  project: Project,
  { id, signature }: { id: string; signature: string | null },
): Promise<StoredSignature | null> {
  const kind = signature === null ? undefined : kindOf(signature)
  if (!kind) return null
  const kept = await findStoredSignature(app.db, project.id, id)
  if (kept) return kept
  await keepSignatures(app, project, [id])
  return (await findStoredSignature(app.db, project.id, id)) ?? { ...UNREADABLE, kind }
}

/** The object is too large to check, or the key changed at the same moment. */
const UNREADABLE: Omit<StoredSignature, 'kind'> = {
  status: 'unverified',
  signed_by: null,
  gpg_key_id: null,
  gpg_subkey_id: null,
  holder_name: null,
  holder_email: null,
  primary_keyid: null,
  key: null,
}

const MOST_PUSHED = 100

/** Checks the newest commits and the tags of a push. Other signatures are checked on their first request. */
export async function keepPushed(app: App, project: Project, updates: readonly Update[]): Promise<void> {
  const dir = repositoryDir(app, project)
  if (!(await repositoryExists(dir))) return
  const arrived = updates.filter(isNewTip)
  const tags = arrived.filter(({ ref }) => tagOf(ref) !== null).map(({ after }) => after)
  const branches = arrived.filter(({ ref }) => branchOf(ref) !== null)
  const commits = branches.length === 0 ? [] : await newCommits(dir, project, branches)
  const ids = await findUnkept(app.db, project.id, [...new Set([...commits, ...tags.slice(0, MOST_PUSHED)])])
  await keepSignatures(app, project, ids)
}

type Arrived = Update & { after: string }

/** A single commit on top of a branch tip needs no history walk, because its parent was checked before. */
async function newCommits(dir: string, { default_branch }: Project, branches: readonly Arrived[]): Promise<string[]> {
  const [{ before, after }, another] = branches as [Arrived, Arrived | undefined]
  const tip = another ? null : await findCommit(dir, after)
  if (tip) {
    const isUpon = (ids: readonly (string | null)[]) => tip.parents.every((parent) => ids.includes(parent))
    if (isUpon([before]) || isUpon([await resolveRef(dir, `refs/heads/${default_branch}`)])) return [after]
    if (isUpon(await tipsOf(dir))) return [after]
  }
  // The commit of a branch that was deleted meanwhile may no longer exist.
  const tips = await resolveCommits(
    dir,
    branches.map(({ after }) => after),
  )
  return listCommitIds(dir, {
    from: tips.filter((tip) => tip !== null),
    not: branches.map(({ before }) => before).filter((before) => before !== null),
    limit: MOST_PUSHED,
  })
}

async function tipsOf(dir: string): Promise<string[]> {
  const refs = (await readRefs(dir)) ?? []
  return refs.filter(({ name }) => branchOf(name) !== null).map(({ id }) => id)
}

async function keepSignatures(app: App, project: Project, ids: readonly string[]): Promise<void> {
  const signed = await findSigned(repositoryDir(app, project), ids)
  if (signed.length === 0) return
  const found = await verifyAll(app.db, signed)
  await transact(app, async (app) => {
    const now = timestamp(app.clock)
    const values = (await stillTrue(app, found)).map((one) => ({
      ...one,
      project_id: project.id,
      created_at: now,
      updated_at: now,
    }))
    if (values.length === 0) return
    await app.db
      .insertInto('signatures')
      .values(values)
      .onConflict((c) =>
        c
          .columns(['project_id', 'object_id'])
          .doUpdateSet((eb) => ({
            status: eb.ref('excluded.status'),
            signed_by: eb.ref('excluded.signed_by'),
            gpg_key_id: eb.ref('excluded.gpg_key_id'),
            gpg_subkey_id: eb.ref('excluded.gpg_subkey_id'),
            key_id: eb.ref('excluded.key_id'),
            holder_name: eb.ref('excluded.holder_name'),
            holder_email: eb.ref('excluded.holder_email'),
            updated_at: eb.ref('excluded.updated_at'),
          }))
          .where('signatures.status', '!=', 'verified'),
      )
      .execute()
  })
}

/** Drops results whose key was added or deleted during the check. The next request checks them again. */
async function stillTrue(app: TransactionApp, found: readonly Verification[]): Promise<Verification[]> {
  const names = found.map(({ signed_by }) => signed_by)
  const keys = await lockSigningKeys(app.db, names)
  return found.filter(({ signed_by, gpg_key_id, key_id }) => {
    const key = keys.get(signed_by ?? '')
    return (key?.gpg_key_id ?? null) === gpg_key_id && (key?.key_id ?? null) === key_id
  })
}

const AT_ONCE = 100

const doubtful = (app: App) =>
  app.db.selectFrom('signatures').select(['id', 'project_id', 'object_id']).where('status', '!=', 'verified')

type Doubtful = ReturnType<typeof doubtful>

/** A key was added. */
export function recheckSignedBy(app: App, names: readonly string[]): Promise<void> {
  return recheck(app, (query) => query.where('signed_by', 'in', names))
}

/** An address of the user was added or removed. */
export function recheckOwnedBy(app: App, userId: number): Promise<void> {
  const gpgKeys = app.db.selectFrom('gpg_keys').select('id').where('user_id', '=', userId)
  const keys = app.db.selectFrom('keys').select('id').where('user_id', '=', userId)
  return recheck(app, (query) =>
    query.where((eb) => eb.or([eb('gpg_key_id', 'in', gpgKeys), eb('key_id', 'in', keys)])),
  )
}

async function recheck(app: App, narrow: (query: Doubtful) => Doubtful): Promise<void> {
  for (let last = 0; ;) {
    const rows = await narrow(doubtful(app)).where('id', '>', last).orderBy('id').limit(AT_ONCE).execute()
    if (rows.length === 0) return
    for (const [id, some] of Map.groupBy(rows, ({ project_id }) => project_id)) {
      const project = await findProjectById(app.db, id)
      const ids = some.map(({ object_id }) => object_id)
      if (project) await keepSignatures(app, project, ids)
    }
    last = rows.at(-1)!.id
  }
}

/** A key was revoked, so it no longer verifies anything. */
export async function disown(app: App, names: readonly string[]): Promise<void> {
  await app.db
    .updateTable('signatures')
    .set({ status: 'unknown_key', holder_name: null, holder_email: null, updated_at: timestamp(app.clock) })
    .where('signed_by', 'in', names)
    .where('gpg_key_id', 'is', null) // unless the same key was added again
    .execute()
  await recheckSignedBy(app, names)
}
