import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { backupStage } from '../../test/backups.ts'
import { testDatabaseUrl } from '../config.ts'
import { startForge } from '../forge.ts'
import { PROCESS_TAG } from '../lib/async/process-tag.ts'
import { verifyBackup } from './verify.ts'

/** No process has this number. */
const KILLED = PROCESS_TAG.replace(/_\d+_\d+$/, '_99999999_1')
const server = testDatabaseUrl()

async function databases(): Promise<string[]> {
  if (!server) return []
  const client = new pg.Client(server)
  await client.connect()
  const { rows } = await client.query<{ name: string }>('select datname as name from pg_database')
  await client.end()
  // Other processes may prove backups at the same time.
  const isOurs = (name: string) => name.includes(KILLED) || name.includes(PROCESS_TAG)
  return rows.map(({ name }) => name).filter((name) => name.startsWith('mortise_proof_') && isOurs(name))
}

test('a proof removes what killed proofs left behind, and leaves nothing', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  await forge.project()
  await forge.settle()
  await stage.backUp()
  const folders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('mortise-verify-'))
  const dead = await mkdtemp(join(tmpdir(), `mortise-verify-${KILLED}-`))
  await mkdir(join(dead, 'repositories'))
  const living = await mkdtemp(join(tmpdir(), `mortise-verify-${PROCESS_TAG}-`))
  if (server) {
    const client = new pg.Client(server)
    await client.connect()
    await client.query(`create database mortise_proof_${KILLED}_aaaa`)
    await client.end()
  }
  expect((await verifyBackup(stage.archive, forge.app.config, {})).faults).toEqual([])
  const left = (await folders()).map((name) => join(tmpdir(), name))
  expect(left).not.toContain(dead)
  expect(left.filter((path) => path.includes(PROCESS_TAG))).toEqual([living])
  expect(await databases()).toEqual([])
  await rm(living, { recursive: true })
})
