/**
 * Compares both query plans of the list, collecting few matches and walking many, with a plain filter over the same
 * rows.
 */
import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { groupOf } from '../../../../test/groups.ts'
import { testDatabaseUrl } from '../../../config.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import type { NewRow } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { pageOfProjects, PROJECT_ORDERS, type ProjectOrder } from './lists.ts'
import { blankProject } from '../projects/service.ts'

const MANY = 2000

/** A seeded random generator. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

interface Seeded {
  row: NewRow<'projects'> & { id: number }
  topics: string[]
  starred: boolean
}

/** Most rows pass every filter, and some do not. So each filter excludes some rows and keeps many. */
async function seed(forge: TestForge, count: number) {
  const { app } = forge
  const member = await forge.user()
  const external = await forge.user({ external: true })
  const stranger = await forge.user()
  const home = await groupOf(forge, 'home', { visibility: 'public' })
  const below = await groupOf(forge, 'below', { visibility: 'public', parent_id: home.id })
  const other = await groupOf(forge, 'other', { visibility: 'public' })
  await addMember(forge, { group_id: home.id }, member.id, 50)

  const random = dice(count)
  const seldom = () => random() < 0.05
  const moment = () => new Date(Date.UTC(2026, 0, 1 + Math.floor(random() * 300))).toISOString()
  const seeded: Seeded[] = Array.from({ length: count }, (_, n) => {
    const word = seldom() ? 'rare' : 'Common'
    const blank = { namespace_id: seldom() ? other.id : seldom() ? below.id : home.id, creator_id: null }
    const visibility = seldom() ? 'private' : seldom() ? 'internal' : 'public'
    const row = {
      ...blankProject(app, { ...blank, name: `${word} ${Math.floor(random() * 1e6)}_${n}`, path: `${n}-p${n % 7}` }),
      id: n + 1,
      visibility,
      archived: seldom(),
      deleting: random() < 0.01,
      issues_access_level: seldom() ? 0 : seldom() ? 10 : 20,
      merge_requests_access_level: seldom() ? 0 : 20,
      last_activity_at: moment(),
      updated_at: moment(),
      repository_storage: seldom() ? 'spare' : 'default',
      ...(seldom() ? { import_url: 'https://example.com/a.git', creator_id: seldom() ? null : member.id } : {}),
    } as const
    return { row, topics: seldom() ? ['Seldom'] : ['Usual', `n${n % 5}`], starred: !seldom() }
  })
  await insert(forge, member.id, seeded)
  const topics = ['Seldom', 'Usual'].map((name, n) => ({ id: n + 1, name, created_at: moment() }))
  await app.db.insertInto('topics').values(topics).execute()
  const direct = seeded.filter(({ row }) => row.namespace_id === other.id).map(({ row }) => row.id)
  for (const [n, project_id] of direct.slice(0, 6).entries()) {
    await addMember(forge, { project_id }, n % 2 ? external.id : member.id, n < 3 ? 20 : 40)
  }
  const { id: founder } = forge.administrator
  await transact(app, (app) => refreshAuthorizations(app, { users: [founder, member.id, external.id] }))
  const rows = await app.db.selectFrom('project_authorizations').selectAll().execute()
  const levels = new Map(rows.map((one) => [`${one.user_id} ${one.project_id}`, one.access_level]))
  return {
    below: below.id,
    member,
    external,
    stranger,
    seeded,
    level: (user: number, project: number) => levels.get(`${user} ${project}`) ?? 0,
    /** Only direct ownership counts: the owner of a group above does not own its projects here. */
    owns: (user: number, { row }: Seeded) => user === founder || (user === member.id && row.namespace_id === home.id),
  }
}

async function insert({ app: { db } }: TestForge, fan: number, seeded: Seeded[]): Promise<void> {
  const now = new Date().toISOString()
  for (let at = 0; at < seeded.length; at += 400) {
    const some = seeded.slice(at, at + 400)
    await db
      .insertInto('projects')
      .values(some.map(({ row }) => row))
      .execute()
    const topics = some.flatMap(({ row, topics }) =>
      topics.map((name, position) => ({ project_id: row.id, name, position })),
    )
    await db.insertInto('project_topics').values(topics).execute()
    const stars = some.filter(({ starred }) => starred)
    await db
      .insertInto('stars')
      .values(stars.map(({ row }) => ({ user_id: fan, project_id: row.id, created_at: now })))
      .execute()
  }
}

type World = Awaited<ReturnType<typeof seed>>
type Who = { id: number; external?: boolean; admin?: boolean } | null

function sees({ level }: World, who: Who, { row }: Seeded): boolean {
  if (row.deleting) return false
  if (who?.admin || row.visibility === 'public') return true
  return who !== null && ((row.visibility === 'internal' && !who.external) || level(who.id, row.id) > 0)
}

const words = ({ row }: Seeded) => `${row.name}\n${row.path}`.toLowerCase()

/** Each filter with a second, plain implementation. */
const filters = (world: World): [Record<string, unknown>, (one: Seeded, who: Who) => boolean][] => [
  [{}, () => true],
  [{ visibility: 'public' }, ({ row }) => row.visibility === 'public'],
  [{ visibility: 'internal' }, ({ row }) => row.visibility === 'internal'],
  [{ visibility: 'private' }, ({ row }) => row.visibility === 'private'],
  [{ with_issues_enabled: true }, ({ row }) => row.issues_access_level > 0],
  [{ with_merge_requests_enabled: true }, ({ row }) => row.merge_requests_access_level > 0],
  [{ search: 'COMMON' }, (one) => words(one).includes('common')],
  [{ search: 'co' }, (one) => words(one).includes('co')],
  [{ search: '_1' }, (one) => words(one).includes('_1')],
  [{ search: '%' }, () => false],
  [{ search: 'p%' }, () => false],
  [{ search: 'rar' }, (one) => words(one).includes('rar')],
  [{ topic: 'usual' }, (one) => one.topics.includes('Usual')],
  [{ topic: 'n3' }, (one) => one.topics.includes('n3')],
  [{ membership: true }, ({ row }, who) => who === null || world.level(who.id, row.id) > 0],
  [{ min_access_level: 40 }, ({ row }, who) => who === null || world.level(who.id, row.id) >= 40],
  [{ min_access_level: 30, membership: true }, ({ row }, who) => who === null || world.level(who.id, row.id) >= 30],
  [{ owned: true }, (one, who) => who === null || world.owns(who.id, one)],
  [{ starred: true }, (one, who) => who === null || (who.id === world.member.id && one.starred)],
  [{ id_after: 20 }, ({ row }) => row.id > 20],
  [{ id_before: 2500, id_after: 3 }, ({ row }) => row.id < 2500 && row.id > 3],
  [{ last_activity_after: '2026-01-20' }, ({ row }) => row.last_activity_at >= '2026-01-20'],
  [{ last_activity_before: '2026-10-01T00:00:00Z' }, ({ row }) => row.last_activity_at <= '2026-10-01T00:00:00.000Z'],
  [{ updated_after: '2026-01-20' }, ({ row }) => row.updated_at >= '2026-01-20'],
  [{ updated_before: '2026-10-01T00:00:00Z' }, ({ row }) => row.updated_at <= '2026-10-01T00:00:00.000Z'],
  [{ updated_before: '2001-01-01T00:00:00Z' }, () => false],
  [{ imported: true }, ({ row }, who) => row.import_url !== null && row.creator_id === (who?.id ?? 0)],
  [{ repository_storage: 'spare' }, ({ row }) => row.repository_storage === 'spare'],
  [{ topic_id: 1 }, (one) => one.topics.includes('Seldom')],
  [{ topic_id: 2 }, (one) => one.topics.includes('Usual')],
  [{ search: 'below', search_namespaces: true }, ({ row }) => row.namespace_id === world.below],
  [{ search: 'elow/1', search_namespaces: true }, ({ row }) => row.namespace_id === world.below && row.path[0] === '1'],
  [{ search: 'w/', search_namespaces: true }, ({ row }) => row.namespace_id === world.below],
  [{ search: 'COMMON', search_namespaces: true }, (one) => words(one).includes('common')],
  [
    { search: 'common', topic: 'Usual', starred: true },
    (one, who) =>
      words(one).includes('common') &&
      one.topics.includes('Usual') &&
      (who === null || (who.id === world.member.id && one.starred)),
  ],
  [
    { membership: true, visibility: 'public', with_issues_enabled: true },
    ({ row }, who) =>
      (who === null || world.level(who.id, row.id) > 0) && row.visibility === 'public' && row.issues_access_level > 0,
  ],
]

const keyOf = ({ row }: Seeded, order: ProjectOrder): string | number => {
  if (order === 'id' || order === 'created_at') return row.id
  return order === 'name' || order === 'path' ? row[order].toLowerCase() : row[order]
}

function sorted(rows: Seeded[], order: ProjectOrder, sort: string): number[] {
  const way = sort === 'asc' ? 1 : -1
  const compare = (a: string | number, b: string | number) => (a < b ? -way : a > b ? way : 0)
  return rows
    .toSorted((a, b) => compare(keyOf(a, order), keyOf(b, order)) || compare(a.row.id, b.row.id))
    .map(({ row }) => row.id)
}

test.each([
  ['few', 90],
  ['many', 2900],
])(
  '%s: every filter and order gives every viewer the right page and total',
  async (_, count) => {
    await using forge = await startForge()
    const world = await seed(forge, count)
    const { member, external, stranger } = world
    const viewers: [string, Client, Who][] = [
      ['anonymous', forge.visitor, null],
      ['stranger', stranger, { id: stranger.id }],
      ['external', external, { id: external.id, external: true }],
      ['member', member, { id: member.id }],
      ['administrator', forge.administrator, { id: forge.administrator.id, admin: true }],
    ]
    let turn = 0
    let walked = 0
    for (const [filter, passes] of filters(world)) {
      for (const [name, client, who] of viewers) {
        const archived = turn % 5 === 4
        const order_by = PROJECT_ORDERS[turn % PROJECT_ORDERS.length]!
        const sort = turn++ % 4 < 2 ? 'desc' : 'asc'
        const rows = world.seeded.filter(
          (one) => one.row.archived === archived && sees(world, who, one) && passes(one, who),
        )
        const ids = sorted(rows, order_by, sort)
        const last = Math.max(1, Math.ceil(ids.length / 50))
        if (ids.length > MANY) walked++
        for (const page of new Set([1, last])) {
          const asked = { simple: true, ...filter, archived, order_by, sort, page, per_page: 50 }
          const { status, body, headers } = await client.get('/projects', asked)
          const label = `${name} ${JSON.stringify(asked)}`
          expect([status, Number(headers.get('x-total'))], label).toEqual([200, ids.length])
          expect(
            body.map((one: { id: number }) => one.id),
            label,
          ).toEqual(ids.slice((page - 1) * 50, page * 50))
        }
      }
    }
    expect(walked > 30).toBe(count > MANY)
  },
  60_000,
)

test.runIf(testDatabaseUrl() === undefined)(
  'many are walked in their order: by its index, sorting nothing',
  async () => {
    await using forge = await startForge()
    const { db } = forge.app
    const plan = async (values: object) => {
      const parameters = { archived: false, walked: true, limit: 20, offset: 0, ...values } as const
      const page = pageOfProjects.compile(db, parameters)
      const { rows } = await db.executeQuery<{ detail: string }>({ ...page, sql: `explain query plan ${page.sql}` })
      return rows.map(({ detail }) => detail)
    }
    const index = {
      id: 'projects_by_id',
      created_at: 'projects_by_id',
      name: 'projects_by_name',
      path: 'projects_by_path',
      updated_at: 'projects_by_update',
      last_activity_at: 'projects_by_activity',
    }
    const narrowed = [
      {},
      { seen_by: 0 },
      { seen_by: 5, internal_too: true },
      { member: 5, at_least: 30 },
      { owner: 5 },
      { starred_by: 5 },
      { topic: 'x' },
      { topic_id: 5 },
      { importer: 5 },
      { storage: 'x' },
      { within: '%x%', substring: '"xyz"' },
      { updated_after: '2026-01-01T00:00:00.000Z' },
      { active_before: '2026-01-01T00:00:00.000Z' },
      { like: '%x%', substring: '"xyz"' },
      { issues: true, merge_requests: true, visibility: 'public' },
      { group: 5, subgroups: true, shared: true },
    ]
    for (const order of PROJECT_ORDERS) {
      for (const way of ['asc', 'desc']) {
        for (const values of narrowed) {
          const steps = await plan({ ...values, [`by ${order} ${way}`]: true })
          const label = `${order} ${way} ${JSON.stringify(values)}: ${steps.join('; ')}`
          const fit =
            'visibility' in values && index[order] === 'projects_by_id' ? 'projects_by_visibility' : index[order]
          expect(steps[0], label).toMatch(new RegExp(`^SEARCH projects USING (COVERING )?INDEX ${fit} `))
          expect(steps.join(), label).not.toContain('TEMP B-TREE')
        }
      }
    }
  },
)
