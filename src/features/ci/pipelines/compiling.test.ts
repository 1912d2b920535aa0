import { expect, test } from 'vitest'
import { ciContext } from '../../../../test/ci.ts'
import { startForge } from '../../../forge.ts'
import { BlobStoreUnavailable } from '../../../store/blobs/blobs.ts'
import { StoreUnavailable } from '../../../store/database.ts'
import { compileConfiguration } from './compiling.ts'

const JOB = 'a: { script: [x], rules: [{ exists: [c] }, { changes: [b] }] }\n'
const FILES = { short: JOB, long: `${'# padding\n'.repeat(4000)}${JOB}` }

test.each([
  ['an include', 'readInclude', 'short', new StoreUnavailable(null)],
  ['an include', 'readInclude', 'long', new StoreUnavailable(null)],
  ['an include', 'readInclude', 'long', new BlobStoreUnavailable('away')],
  ['the changed files', 'changedPaths', 'long', new StoreUnavailable(null)],
  ['the files of a tree', 'paths', 'long', new StoreUnavailable(null)],
] as const)('%s cannot be read: the failure is told as it is (%s, %s)', async (_what, asked, length, error) => {
  await using forge = await startForge()
  const context = { ...ciContext(), [asked]: () => Promise.reject(error) }
  const text = `${asked === 'readInclude' ? 'include: more.yml\n' : ''}${FILES[length]}`
  const report = compileConfiguration(forge.app, text, context, { plan: true, details: false })
  await expect(report).rejects.toBe(error)
})
