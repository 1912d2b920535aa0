/** Projects of a forge, inspected from outside. */
import { readdir } from 'node:fs/promises'
import { pngOf } from './samples.ts'
import type { Client, TestForge } from '../src/forge.ts'

/** Every repository folder on disk, including unfinished and half-deleted ones. */
export async function repositoriesOf({ app }: TestForge): Promise<string[]> {
  const found: string[] = []
  for (const root of Object.values(app.config.storages)) {
    const names = await readdir(root, { recursive: true }).catch(() => [])
    found.push(...names.filter((name) => name.split('/').length === 3))
  }
  return found.sort()
}

/** The state that a rejected request must not change. */
export async function stateOf(forge: TestForge): Promise<unknown> {
  const { db } = forge.app
  return {
    projects: await db.selectFrom('projects').selectAll().orderBy('id').execute(),
    topics: await db.selectFrom('project_topics').selectAll().orderBy('project_id').orderBy('position').execute(),
    redirects: await db.selectFrom('redirects').selectAll().orderBy('id').execute(),
    events: await forge.events(),
    repositories: await repositoriesOf(forge),
  }
}

/** A new project of the caller; throws on failure. */
export async function projectBy(caller: Client, path: string, more: Record<string, unknown> = {}) {
  const { status, body } = await caller.post('/projects', { path, ...more })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body as { id: number; path_with_namespace: string; runners_token: string; created_at: string }
}

export function formOf(fields: Record<string, string | Blob | string[]>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (Array.isArray(value)) for (const one of value) form.append(`${name}[]`, one)
    else form.append(name, value)
  }
  return form
}

export const picture = (name = 'logo.png', bytes: Uint8Array = pngOf(2, 2)): File =>
  new File([Uint8Array.from(bytes)], name, { type: 'image/png' })
