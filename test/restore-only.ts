/** Restores of single projects and groups into a test forge. */
import { readdir } from 'node:fs/promises'
import { expect } from 'vitest'
import { restoreOnly, type OnlyOptions, type RestoredPart } from '../src/backup/only/only.ts'
import type { Config } from '../src/config.ts'
import type { TestForge } from '../src/forge.ts'
import { refsIn, rowsOf, type Stage } from './backups.ts'

/** Stops the instance, restores, and starts it again. */
export async function restoredOnly(forge: TestForge, { archive }: Stage, options: OnlyOptions): Promise<RestoredPart> {
  const { config } = forge.app
  let result: RestoredPart | undefined
  await forge.whileStopped(async () => void (result = await restoreOnly(archive, config, options)))
  return result!
}

/** The message of a refusal. The instance must be as it was. */
export async function refusedOnly(
  forge: TestForge,
  { archive }: Stage,
  options: OnlyOptions,
  change: Partial<Config> = {},
): Promise<string> {
  const { config } = forge.app
  let message = ''
  await forge.whileStopped(async () => {
    const before = await stateOf(config)
    message = await restoreOnly(archive, { ...config, ...change }, options).then(
      () => 'restored',
      (error: Error) => error.message,
    )
    expect(await stateOf(config)).toEqual(before)
  })
  return message
}

const stateOf = async (config: Config) => ({
  rows: await rowsOf(config),
  refs: await refsIn(config.storages['default']!),
  files: (await readdir(config.data)).filter((name) => !/-(wal|shm)$/.test(name)),
})
