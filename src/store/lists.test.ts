/** A list like that of issues, built from this module alone, and compared with a plain filter over the same rows. */
import { sql, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../config.ts'
import { startForge, type TestForge } from '../forge.ts'
import type { Db } from './database.ts'
import { contains, longList, searchFor, type Search } from './lists.ts'
import { columnTypes } from './migrations/helpers/columns.ts'
import { countChanges, countFacets, logChanges } from './migrations/helpers/counts.ts'
import { createSubstringIndex } from './migrations/helpers/substring-index.ts'

interface Ticket {
  id: number
  project_id: number
  state: 'opened' | 'closed'
  confidential: boolean
  author_id: number
  title: string
  updated_at: string
}

declare module './database.ts' {
  interface Tables {
    tickets: Ticket
    ticket_labels: { ticket_id: number; title: string }
  }
}

interface Filter extends Search {
  project: number
  state?: Ticket['state']
  author?: number
  label?: string
  not_label?: string
  updated_after?: string
  /** Absent for users who see confidential issues. */
  seen_by?: number
}

const ORDERS = ['id', 'updated_at'] as const

const labelled = (title: string) => sql<boolean>`exists (select 1 from ticket_labels l
  where l.ticket_id = tickets.id and l.title = ${title})`

const tickets = longList<Filter, 'tickets', (typeof ORDERS)[number]>({
  table: 'tickets',
  many: 100,
  facets: true,
  counted: ['tickets'],
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions: {
    label: {
      test: (w) => labelled(w.label!),
      set: (w) => sql`select ticket_id from ticket_labels where title = ${w.label}`,
      counted: ['ticket_labels'],
    },
    author: {
      test: (w, { hidden }) => sql`${hidden('author_id')} = ${w.author}`,
      set: (w) => sql`select id from tickets where author_id = ${w.author}`,
    },
    like: contains('tickets', ['title']),
    not_label: { test: (w) => sql`not ${labelled(w.not_label!)}`, counted: ['ticket_labels'] },
    state: { facet: true, test: (w, { column }) => sql`${column('state')} = ${w.state}` },
    updated_after: { test: (w) => sql`tickets.updated_at >= ${w.updated_after}` },
  },
  visible: {
    open: { needs: 'seen_by', test: () => sql`not tickets.confidential` },
    own: {
      needs: 'seen_by',
      test: (w, { hidden }) => sql`${hidden('author_id')} = ${w.seen_by}`,
      set: (w) => sql`select id from tickets where author_id = ${w.seen_by}`,
      counted: [],
    },
  },
  orders: { id: null, updated_at: () => sql.ref('tickets.updated_at') },
  usual: () => ['id', 'desc'],
})

async function createTables(db: Db): Promise<void> {
  const bare = db as unknown as Kysely<never>
  const { boolean, ref, timestamp, withId } = columnTypes(db)
  await withId(bare.schema.createTable('tickets'))
    .addColumn('project_id', ref)
    .addColumn('state', 'text')
    .addColumn('confidential', boolean)
    .addColumn('author_id', ref)
    .addColumn('title', 'text')
    .addColumn('updated_at', timestamp)
    .execute()
  await bare.schema.createTable('ticket_labels').addColumn('ticket_id', ref).addColumn('title', 'text').execute()
  for (const index of [
    'tickets_by_id on tickets (project_id, id)',
    'tickets_by_update on tickets (project_id, updated_at, id)',
    'tickets_author on tickets (author_id)',
    'ticket_labels_title on ticket_labels (title, ticket_id)',
    'ticket_labels_ticket on ticket_labels (ticket_id, title)',
  ]) {
    await sql`create index ${sql.raw(index)}`.execute(db)
  }
  await createSubstringIndex(db, 'tickets', ['title'])
  await countFacets(bare, 'tickets', { project_id: 'integer', state: 'text', confidential: 'boolean' })
  await countChanges(bare, 'tickets', ['project_id', 'state', 'confidential', 'author_id', 'title', 'updated_at'])
  await countChanges(bare, 'ticket_labels', ['title'])
}

const AUTHORS = 7
const LABELS = ['bug', 'docs', 'rare']
const labelsOf = (n: number) => LABELS.filter((_, i) => n % [2, 3, 41][i]! === 0)

async function seed({ app: { db } }: TestForge, count: number): Promise<Ticket[]> {
  await createTables(db)
  const rows = Array.from({ length: count }, (_, n): Ticket => {
    const updated_at = new Date(Date.UTC(2026, 0, 1 + ((n * 17) % 300))).toISOString()
    return {
      id: n + 1,
      project_id: n % 10 === 9 ? 2 : 1,
      state: n % 5 === 0 ? 'closed' : 'opened',
      confidential: n % 4 === 0,
      author_id: 1 + (n % AUTHORS),
      title: `${n % 3 === 0 ? 'Broken' : 'Wanted'} thing ${n}`,
      updated_at,
    }
  })
  await db.insertInto('tickets').values(rows).execute()
  const labels = rows.flatMap(({ id }) => labelsOf(id).map((title) => ({ ticket_id: id, title })))
  await db.insertInto('ticket_labels').values(labels).execute()
  return rows
}

const filters: [Omit<Filter, 'project'> & { search?: string }, (ticket: Ticket) => boolean][] = [
  [{}, () => true],
  [{ state: 'opened' }, ({ state }) => state === 'opened'],
  [{ author: 3 }, ({ author_id }) => author_id === 3],
  [{ label: 'bug' }, ({ id }) => labelsOf(id).includes('bug')],
  [{ label: 'rare' }, ({ id }) => labelsOf(id).includes('rare')],
  [
    { label: 'bug', not_label: 'docs' },
    ({ id }) => labelsOf(id).join() === 'bug' || labelsOf(id).join() === 'bug,rare',
  ],
  [{ not_label: 'bug' }, ({ id }) => !labelsOf(id).includes('bug')],
  [{ search: 'broken' }, ({ title }) => title.startsWith('Broken')],
  [{ search: 'g 1' }, ({ title }) => title.includes('g 1')],
  [{ search: '7' }, ({ title }) => title.includes('7')],
  [{ updated_after: '2026-03-01T00:00:00.000Z' }, ({ updated_at }) => updated_at >= '2026-03-01'],
  [{ state: 'closed', author: 5, search: 'thing' }, ({ state, author_id }) => state === 'closed' && author_id === 5],
]

test.each([
  ['few', 80],
  ['many', 700],
])('%s: conditions, orders and visibility give the right page, total and keys', async (_, count) => {
  await using forge = await startForge()
  const { db } = forge.app
  const rows = await seed(forge, count)
  for (const [{ search, ...filter }, passes] of filters) {
    for (const seen_by of [undefined, 0, 4]) {
      const values = { ...filter, ...searchFor(db, search), project: 1, ...(seen_by !== undefined && { seen_by }) }
      const isSeen = (ticket: Ticket) => seen_by === undefined || !ticket.confidential || ticket.author_id === seen_by
      const matching = rows.filter((ticket) => ticket.project_id === 1 && isSeen(ticket) && passes(ticket))
      const label = JSON.stringify(values)
      for (const order_by of ORDERS) {
        const sorted = matching.toSorted((a, b) =>
          a[order_by] < b[order_by] ? 1 : a[order_by] > b[order_by] ? -1 : b.id - a.id,
        )
        const last = Math.max(0, Math.floor((sorted.length - 1) / 10) * 10)
        for (const offset of [0, last]) {
          const { items, total } = await tickets(db, values, { limit: 10, offset }, { order_by })
          expect([total, items.map(({ id }) => id)], `${label} by ${order_by}`).toEqual([
            sorted.length,
            sorted.slice(offset, offset + 10).map(({ id }) => id),
          ])
        }
      }
      const next = await tickets.next(db, values, 'asc', 10)
      expect(
        next.map(({ id }) => id),
        label,
      ).toEqual(matching.slice(0, 10).map(({ id }) => id))
    }
  }
})

test.runIf(testDatabaseUrl() === undefined)(
  'many are walked by the order’s index, few gathered by their keys',
  async () => {
    await using forge = await startForge()
    const { db } = forge.app
    await createTables(db)
    const plan = async (values: object) => {
      const page = tickets.page.compile(db, { project: 1, limit: 20, offset: 0, ...values })
      const { rows } = await db.executeQuery<{ detail: string }>({ ...page, sql: `explain query plan ${page.sql}` })
      return rows.map(({ detail }) => detail)
    }
    const narrowed = [
      {},
      { state: 'opened' },
      { author: 1 },
      { label: 'x' },
      { seen_by: 1 },
      { like: '%x%', substring: '"xyz"' },
    ]
    for (const [order, index] of [
      ['id', 'tickets_by_id'],
      ['updated_at', 'tickets_by_update'],
    ] as const) {
      for (const values of narrowed) {
        const steps = await plan({ ...values, [`by ${order} desc`]: true, walked: true })
        expect(steps[0], JSON.stringify(values)).toMatch(new RegExp(`^SEARCH tickets USING INDEX ${index} `))
        expect(steps.join(), JSON.stringify(values)).not.toContain('TEMP B-TREE')
      }
    }
    for (const values of [{ author: 1 }, { label: 'x', author: 1 }, { like: '%x%', substring: '"xyz"' }]) {
      expect((await plan(values))[0], JSON.stringify(values)).toBe('SEARCH tickets USING INTEGER PRIMARY KEY (rowid=?)')
    }
  },
)

test('a total is counted again only when something changed that its conditions depend on', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  await seed(forge, 40)
  const cost = (filter: Omit<Filter, 'project'>) =>
    forge.queries(() => tickets(db, { project: 1, ...filter }, { limit: 0, offset: 0 }))
  const costs = async () => [await cost({ state: 'opened' }), await cost({ author: 3 }), await cost({ label: 'bug' })]
  await costs()
  expect(await costs()).toEqual([1, 1, 1])
  await db.deleteFrom('ticket_labels').where('ticket_id', '=', 2).execute()
  expect(await costs()).toEqual([1, 1, 2])
  await db.updateTable('tickets').set({ state: 'closed' }).where('id', '=', 2).execute()
  expect(await costs()).toEqual([1, 2, 2])
})

test('a followed total asks about the rows that changed, of its scope', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  await seed(forge, 60)
  await logChanges(db as unknown as Kysely<never>, 'tickets', {
    scope: 'project_id',
    columns: ['state', 'confidential', 'author_id', 'title', 'updated_at'],
    links: { ticket_labels: { by: 'ticket_id', columns: ['title'] } },
  })
  const list = longList<Filter, 'tickets', 'id'>({
    table: 'tickets',
    counted: [],
    followed: { scope: 'project' },
    always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
    conditions: {
      label: {
        test: (w) => labelled(w.label!),
        set: (w) => sql`select ticket_id from ticket_labels where title = ${w.label}`,
      },
      state: { test: (w, { column }) => sql`${column('state')} = ${w.state}` },
    },
    orders: { id: null },
    usual: () => ['id', 'desc'],
  })
  const values = { project: 1, label: 'bug', state: 'opened' } as const
  const total = async () => (await list(db, values, { limit: 0, offset: 0 })).total
  const plain = async () => {
    const { rows } = await sql<{
      n: number
    }>`select count(*) as n from tickets where project_id = 1 and state = 'opened'
      and ${labelled('bug')}`.execute(db)
    return Number(rows[0]!.n)
  }
  const changes = [
    () => db.updateTable('tickets').set({ state: 'closed' }).where('id', '<', 10).execute(),
    () => db.updateTable('tickets').set({ state: 'opened' }).where('id', '<', 30).execute(),
    () => db.updateTable('tickets').set({ project_id: 2 }).where('id', 'in', [2, 4]).execute(),
    () => db.updateTable('tickets').set({ project_id: 1 }).where('id', 'in', [4, 10, 20]).execute(),
    () => db.deleteFrom('ticket_labels').where('ticket_id', '=', 6).execute(),
    () => db.insertInto('ticket_labels').values({ ticket_id: 7, title: 'bug' }).execute(),
    () => db.deleteFrom('tickets').where('id', '=', 8).execute(),
    () => db.transaction().execute((db) => db.deleteFrom('tickets').where('id', '=', 12).execute()),
  ]
  const asked: number[] = []
  // On PostgreSQL a concurrent transaction may keep the last rows visible a little longer.
  const unchanged = testDatabaseUrl() === undefined ? 1 : 2
  for (const change of changes) {
    await change()
    asked.push(await forge.queries(total))
    expect(await total()).toBe(await plain())
    expect(await forge.queries(total)).toBeLessThanOrEqual(unchanged)
  }
  // The first change is counted, the second reads ids; from then on each is followed.
  expect(asked).toEqual(changes.map(() => 2))

  await db.updateTable('tickets').set({ state: 'closed' }).where('project_id', '=', 2).execute()
  expect(await forge.queries(total)).toBeLessThanOrEqual(unchanged)

  // More changes than are checked one by one, and then an incomplete log.
  for (let n = 0; n < 30; n++)
    await db
      .updateTable('tickets')
      .set({ title: `t${n}` })
      .execute()
  expect(await total()).toBe(await plain())
  await db.updateTable('tickets').set({ state: 'closed' }).where('id', '=', 20).execute()
  await sql`delete from tickets_changes`.execute(db)
  await db.updateTable('tickets').set({ title: 'last' }).where('id', '=', 21).execute()
  expect(await total()).toBe(await plain())
})
