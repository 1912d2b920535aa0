import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bool, int } from '../../api/wire.ts'
import { Refusal } from '../../errors.ts'
import { lockPath, unlockPath } from '../../features/repository/lfs/locks.ts'
import { listLocks, type LfsLock } from '../../features/repository/lfs/queries.ts'
import { Developer } from '../../lib/levels.ts'
import { personOf } from '../principal.ts'
import { fault, sendLfs } from './answers.ts'
import { admit, readJson, readParameters, type LfsSession } from './session.ts'

const MOST_LOCKS = 100
/** The longest path that both stores can find by an index. */
const LONGEST_PATH = 2000

const presentLock = ({ id, path, locked_at, username }: LfsLock) => ({
  id: String(id),
  path,
  locked_at,
  owner: { name: username },
})

/** A caller who may read but not write has no locks either, and gets a separate message. */
async function admitWriter(session: LfsSession) {
  try {
    return await admit(session, 'push')
  } catch (error) {
    const isOther = error instanceof Refusal && error.facts.reason === 'read_only'
    if (error instanceof Refusal && error.kind === 'forbidden' && !isOther) throw noPermissions()
    throw error
  }
}

const noPermissions = () => new Refusal('forbidden', 'You have no permissions')

const Lock = z.object({ path: z.string().refine((path) => path !== '' && Buffer.byteLength(path) <= LONGEST_PATH) })

export async function create(session: LfsSession): Promise<FastifyReply> {
  const { gateway, reply, principal, location } = session
  const { subject } = await admitWriter(session)
  const person = personOf(principal)
  // A lock covers every branch, so a shared branch is not enough.
  if (!person || subject.level < Developer) throw noPermissions()
  const input = Lock.safeParse(await readJson(session))
  if (!input.success) throw new Refusal('unprocessable', 'path is invalid')
  const { lock, isNew } = await lockPath(gateway.app, person, location.project, input.data.path)
  if (isNew) return sendLfs(reply, 201, { lock: presentLock(lock) })
  return sendLfs(reply, 409, { lock: presentLock(lock), ...fault(gateway.app, 'already locked') })
}

const Filter = z.object({
  path: z.string().optional(),
  id: int.optional(),
  cursor: int.optional(),
  limit: int.optional(),
})

const pageOf = ({ cursor, limit = MOST_LOCKS }: z.infer<typeof Filter>) => ({
  from: cursor,
  limit: Math.min(Math.max(limit, 1), MOST_LOCKS),
})

const cursorOf = (next: number | null) => (next === null ? {} : { next_cursor: String(next) })

export async function list(session: LfsSession): Promise<FastifyReply> {
  const { gateway, reply, location } = session
  await admit(session, 'fetch')
  const filter = readFilter(readParameters(session))
  const { path, id } = filter
  const { locks, next } = await listLocks(gateway.app.db, location.project.id, { path, id, ...pageOf(filter) })
  return sendLfs(reply, 200, { locks: locks.map(presentLock), ...cursorOf(next) })
}

export async function verify(session: LfsSession): Promise<FastifyReply> {
  const { gateway, reply, principal, location } = session
  await admitWriter(session)
  const filter = readFilter(await readJson(session))
  const { locks, next } = await listLocks(gateway.app.db, location.project.id, pageOf(filter))
  const isOurs = ({ user_id }: LfsLock) => user_id === personOf(principal)?.id
  return sendLfs(reply, 200, {
    ours: locks.filter(isOurs).map(presentLock),
    theirs: locks.filter((lock) => !isOurs(lock)).map(presentLock),
    ...cursorOf(next),
  })
}

/** An empty value means no filter. */
function readFilter(raw: Record<string, unknown>): z.infer<typeof Filter> {
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== '' && value !== null))
  const filter = Filter.safeParse(given)
  if (!filter.success) throw new Refusal('unprocessable', 'path, id, cursor or limit is invalid')
  return filter.data
}

const Unlock = z.object({ force: bool.nullish() })

export async function unlock(session: LfsSession, id: number): Promise<FastifyReply> {
  const { gateway, reply, principal, location } = session
  const { subject } = await admitWriter(session)
  const input = Unlock.safeParse(await readJson(session))
  if (!input.success) throw new Refusal('unprocessable', 'force is invalid')
  const by = { actor: personOf(principal), level: subject.level }
  const lock = await unlockPath(gateway.app, by, location.project, { id, force: input.data.force ?? false })
  return sendLfs(reply, 200, { lock: presentLock(lock) })
}
