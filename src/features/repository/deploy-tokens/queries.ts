import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { SourceColumns } from '../../access/members/model.ts'
import type { SourceScope } from '../../access/scopes.ts'
import { NAME_FOR_JOBS } from './model.ts'

export type DeployToken = Row<'deploy_tokens'>

const byDigest = hotQuery((db, p: { digest: string }) =>
  db.selectFrom('deploy_tokens').selectAll().where('digest', '=', p.digest),
)

const isUsable = ({ revoked, expires_at }: DeployToken, now: string) =>
  !revoked && (expires_at === null || expires_at > now)

/** Finds the token by its secret, if the token is still valid. */
export async function findDeployToken(
  db: Db,
  username: string,
  secret: string,
  now: string,
): Promise<DeployToken | null> {
  const [token] = await byDigest(db, { digest: digestOf(secret) })
  return token?.username === username && isUsable(token, now) ? token : null
}

/** The same by id, for a caller that has authenticated before. */
export async function findUsableDeployToken(db: Db, id: number, now: string): Promise<DeployToken | null> {
  const token = await db.selectFrom('deploy_tokens').selectAll().where('id', '=', id).executeTakeFirst()
  return token && isUsable(token, now) ? token : null
}

const around = hotQuery((db, p: { group_id: number; project_id: number }) =>
  db
    .selectFrom('projects')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'projects.namespace_id')
    .select('projects.id')
    .where('projects.id', '=', p.project_id)
    .where('a.ancestor_id', '=', p.group_id),
)

/**
 * A project token grants access to its project. A group token grants access to every project below the group, at any
 * depth.
 */
export async function deployTokenReaches(db: Db, token: DeployToken, project: number): Promise<boolean> {
  if (token.group_id === null) return token.project_id === project
  return (await around(db, { group_id: token.group_id, project_id: project })).length > 0
}

const forJobs = hotQuery((db, p: { project_id: number; name: string; now: string }) =>
  db
    .selectFrom('projects as p')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'p.namespace_id')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .innerJoin('deploy_tokens as t', (join) =>
      join.on((eb) => eb.or([eb('t.project_id', '=', eb.ref('p.id')), eb('t.group_id', '=', eb.ref('a.ancestor_id'))])),
    )
    .select(['t.username', 't.secret_sealed'])
    .where('p.id', '=', p.project_id)
    .where('t.name', '=', p.name)
    .where('t.secret_sealed', 'is not', null)
    .where('t.revoked', '=', false)
    .where((eb) => eb.or([eb('t.expires_at', 'is', null), eb('t.expires_at', '>', p.now)]))
    // The project's own token first, then that of the nearest group. Among several the first wins.
    .orderBy(sql`case when t.project_id is null then 1 else 0 end`)
    .orderBy(sql`length(n.full_path)`, 'desc')
    .orderBy('t.id')
    .limit(1),
)

/** The deploy token that jobs of a project get. */
export async function deployUserOf({ db, clock, vault }: App, project: number) {
  const [found] = await forJobs(db, { project_id: project, name: NAME_FOR_JOBS, now: timestamp(clock) })
  return found ? { username: found.username, password: vault.open(found.secret_sealed!) } : null
}

const tokensOf = (db: Db, at: SourceColumns | null) => {
  const all = db.selectFrom('deploy_tokens').selectAll()
  if (!at) return all
  return at.group_id === null ? all.where('project_id', '=', at.project_id) : all.where('group_id', '=', at.group_id)
}

/** Lists the tokens of one project or group, or of the instance. */
export function listDeployTokens(
  db: Db,
  at: SourceColumns | null,
  { active, now }: { active: boolean | null | undefined; now: string },
  page: PageRequest,
): Promise<Page<DeployToken>> {
  const all = tokensOf(db, at)
  const usable = all
    .where('revoked', '=', false)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
  return pageOfQuery((active ? usable : all).orderBy('id'), page)
}

/** `/projects/:id/deploy_tokens/:token_id`, and the same for groups. */
export const deployToken = ({ resource }: SourceScope) =>
  child(resource, {
    key: 'token',
    params: { token_id: id },
    find: (app, { at }, { token_id }) => tokensOf(app.db, at).where('id', '=', token_id).executeTakeFirst(),
  })
