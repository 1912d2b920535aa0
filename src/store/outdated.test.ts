/** A newer version adds columns while this one runs. PostgreSQL then refuses statements that it planned before. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { transact } from './transact.ts'

test('statements planned before a migration work after it, in transactions too', async () => {
  await using forge = await startForge()
  const { app } = forge
  const ann = await forge.user()
  const { body: project } = await ann.post('/projects', { name: 'One' })
  const tables = ['users', 'namespaces', 'projects', 'issues', 'labels', 'jobs'] as const
  const read = async (db: typeof app.db) => {
    for (const table of tables)
      await db
        .selectFrom(table)
        .selectAll()
        .where(sql<number>`1`, '=', 1)
        .limit(1)
        .execute()
  }
  const use = async (title: string) => {
    const statuses = [
      await ann.post(`/projects/${project.id}/issues`, { title, labels: title }),
      await ann.put(`/projects/${project.id}`, { description: title }),
      await ann.get(`/projects/${project.id}`),
      await ann.get('/projects'),
      await ann.get('/user'),
    ].map(({ status }) => status)
    await read(app.db)
    // One transaction meets many of them.
    await transact(app, ({ db }) => read(db))
    return statuses
  }
  const fine = [201, 200, 200, 200, 200]
  // Often enough for every connection of the pool.
  for (let n = 0; n < 3; n++) expect(await Promise.all([use(`a${n}`), use(`b${n}`)])).toEqual([fine, fine])
  for (const table of tables) await sql`alter table ${sql.table(table)} add column of_tomorrow text`.execute(app.db)
  expect(await Promise.all([use('c'), use('d'), use('e')])).toEqual([fine, fine, fine])
  await forge.settle()
})
