/** What a moment with one small change costs must not depend on the size of the instance. SQLite only. */
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { backupStage } from '../../test/backups.ts'
import { blobColumns } from '../features/v4.ts'
import { startForge, type TestForge } from '../forge.ts'
import { contentOf, newestManifest } from './history.ts'
import { openCapturer } from './open.ts'

/** Copies a row so often, with other values in these columns. */
function multiply(file: string, table: string, count: number, values: Record<string, string>): void {
  const database = new Database(file)
  const columns = database.prepare(`select name from pragma_table_info('${table}')`).pluck().all() as string[]
  const chosen = columns.filter((name) => name !== 'id')
  database.exec(`with recursive n(n) as (select 1 union all select n + 1 from n where n < ${count})
    insert into "${table}" (${chosen.map((name) => `"${name}"`).join()})
    select ${chosen.map((name) => values[name] ?? `"${name}"`).join()} from n, (select * from "${table}" order by id limit 1)`)
  database.close()
}

const DIGEST = `printf('%064x', n + 1000000)`

function upload(forge: TestForge, id: number, content: string) {
  const form = new FormData()
  form.append('file', new File([content], 'notes.txt'))
  return forge.administrator.post(`/projects/${id}/uploads`, form)
}

type Prepare = (this: Database.Database, sql: string) => Database.Statement<[]>

/** The statements of a moment with one small change, the rows that they return, and those that read a whole table. */
async function costWith(size: number) {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one' })
  await upload(forge, project.id, 'first')
  await forge.settle()
  const file = forge.app.config.databaseUrl!.replace('sqlite:', '')
  multiply(file, 'projects', size, {
    path: `'copy-' || n`,
    name: `'copy-' || n`,
    disk_path: `printf('ff/ff/%040x.git', n)`,
    runners_token_digest: `printf('%064x', n)`,
  })
  multiply(file, 'uploads', size, { digest: DIGEST, secret: `printf('%032x', n)` })
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  await capturer.capture()

  await forge.seed(project, { 'a.txt': 'two' })
  await upload(forge, project.id, 'second')
  await forge.settle()
  const statements: string[] = []
  let rows = 0
  const original = Database.prototype.prepare as Prepare
  const spy = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (
    this: Database.Database,
    sql: string,
  ) {
    const statement = original.call(this, sql)
    const plan = /^select/i.test(sql) ? original.call(this, `explain query plan ${sql}`).all() : []
    const scans = (plan as { detail: string }[]).filter(({ detail }) => /^SCAN (?!pragma|m$|m |i |c )/.test(detail))
    // A changed page may hold other digests, too.
    const shape = sql.replace(/ in \('.*'\)/, ' in (…)').replaceAll(/\d+/g, 'N')
    statements.push(`${shape}${scans.map(({ detail }) => ` -- ${detail}`).join('')}`)
    const all = statement.all.bind(statement)
    statement.all = () => {
      const found = all()
      rows += found.length
      return found
    }
    return statement
  } as Prepare as never)
  const captured = (await capturer.capture())!
  spy.mockRestore()
  const { blobs } = await contentOf(stage.archive, (await newestManifest(stage.archive))!)
  return { statements, rows, captured, blobs: blobs.size }
}

test('a moment with one change costs the same with 200 and with 2000 projects and files', async () => {
  const few = await costWith(200)
  const many = await costWith(2000)
  expect(many.statements).toEqual(few.statements)
  // Not more than the neighbours on the changed pages, whose content is missing here.
  expect(many.rows).toBeLessThan(few.rows + 100)
  expect(many.statements.filter((sql) => / -- SCAN (projects|uploads|users|namespaces)/.test(sql))).toEqual([])
  // The first upload and the second one; the copies have no content.
  expect([few.blobs, many.blobs]).toEqual([2, 2])
  expect(many.captured.counts).toEqual({ repositories: 1, refs: few.captured.counts.refs, blobs: 2 })
})
