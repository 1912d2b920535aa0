import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proposed } from '../../../../test/approvals.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const lines = (...some: (string | number)[]) => some.map((line) => `${line}\n`).join('')
const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}`)

/** A clone, and a merge request with a change in the middle of a file, approved by John. */
async function approved(forge: TestForge) {
  const made = await proposed(forge)
  const { jane, john, project, root } = made
  const block = ['begin', 'same', 'same', 'same', 'value = 0', 'same', 'same', 'same', 'end']
  await forge.seed(project, { 'long.txt': lines(...many(1, 20), ...block, ...many(21, 40), ...block, ...many(41, 60)) })
  const remote = `${forge.url}/${project.path_with_namespace}.git`
  const git = (...args: string[]) => forge.git(args, { as: jane })
  const dir = 'work'
  await git('clone', '-q', remote, dir)
  const at = (...args: string[]) => git('-C', dir, '-c', 'user.name=Jane', '-c', 'user.email=jane@example.org', ...args)
  await at('checkout', '-q', '-b', 'change', 'origin/master')
  const write = async (path: string, content: string | Uint8Array) => {
    const top = (await git('-C', dir, 'rev-parse', '--show-toplevel')).trim()
    await writeFile(join(top, path), content)
    await at('add', '-A')
  }
  const push = () => at('push', '-q', '-f', 'origin', 'HEAD:refs/heads/change')
  const text = (first: string, second: string, head: readonly string[] = []) => {
    const changed = (value: string) => block.map((line) => (line === 'value = 0' ? `value = ${value}` : line))
    return lines(...head, ...many(1, 20), ...changed(first), ...many(21, 40), ...changed(second), ...many(41, 60))
  }
  await write('long.txt', text('1', '0'))
  await at('commit', '-q', '-m', 'Change the first')
  await push()
  const { body } = await jane.post(`${root}/merge_requests`, {
    source_branch: 'change',
    target_branch: 'master',
    title: 'Change',
  })
  const url = `${root}/merge_requests/${body.iid}`
  const left = async () => (await jane.get(`${url}/approvals`)).body.approvals_left as number
  const approve = async () => {
    expect((await john.post(`${url}/approve`)).status).toBe(200)
    expect(await left()).toBe(0)
  }
  await approve()
  return { ...made, url, at, write, push, text, left, approve }
}

test('approvals stay where the changes are the same, wherever they stand', async () => {
  await using forge = await startForge()
  const { jane, project, url, at, write, push, text, left, approve, root, john } = await approved(forge)

  await at('commit', '-q', '--amend', '-m', 'Change the first, in other words')
  await push()
  expect(await left()).toBe(0)

  await forge.seed(project, { 'long.txt': text('0', '0', ['a new beginning']) })
  await at('fetch', '-q')
  await at('rebase', '-q', 'origin/master')
  await push()
  expect(await left()).toBe(0)
  expect((await jane.get(url)).body.sha).toBe((await at('rev-parse', 'HEAD')).trim())

  await forge.seed(project, { 'other.txt': 'other\n' })
  await at('fetch', '-q')
  await at('merge', '-q', '--no-ff', '-m', 'Bring the target in', 'origin/master')
  await push()
  expect(await left()).toBe(0)

  // The same change with the same context, elsewhere in the file.
  await at('checkout', '-q', '-B', 'change', 'origin/master')
  await write('long.txt', text('0', '1', ['a new beginning']))
  await at('commit', '-q', '-m', 'Change the second')
  await push()
  expect(await left()).toBe(1)
  await approve()

  await write('long.txt', text('0', '2', ['a new beginning']))
  await at('commit', '-q', '-m', 'Change it once more')
  await push()
  expect(await left()).toBe(1)
  await approve()

  // Both sides change one line; the merge commit chooses.
  await forge.seed(project, { 'long.txt': text('0', '9', ['a new beginning']) })
  await at('fetch', '-q')
  await at('merge', '-q', 'origin/master').catch(() => undefined)
  await write('long.txt', text('0', '3', ['a new beginning']))
  await at('commit', '-q', '-m', 'Resolve')
  await push()
  expect(await left()).toBe(1)
  await approve()

  await jane.put(`${root}/approvals`, { reset_approvals_on_push: false })
  await write('long.txt', text('5', '5', ['a new beginning']))
  await at('commit', '-q', '-m', 'Change all')
  await push()
  expect(await left()).toBe(0)
  await jane.put(`${root}/approvals`, { reset_approvals_on_push: true })
  await jane.put(url, { reviewer_ids: [john.id] })
  await john.post(`${url}/unapprove`)
  await approve()

  // Pushes to a closed merge request are not followed.
  await jane.put(url, { state_event: 'close' })
  await write('long.txt', text('6', '6', ['a new beginning']))
  await at('commit', '-q', '-m', 'Slip in')
  await push()
  await jane.put(url, { state_event: 'reopen' })
  expect((await jane.get(url)).body.sha).toBe((await at('rev-parse', 'HEAD')).trim())
  expect(await left()).toBe(1)
  const reviewers = await forge.app.db.selectFrom('merge_request_reviewers').select('state').execute()
  expect(reviewers).toEqual([{ state: 'unapproved' }])
  await approve()
  await jane.put(url, { state_event: 'close' })
  await jane.put(url, { state_event: 'reopen' })
  expect(await left()).toBe(0)

  await jane.post(`${root}/repository/branches`, { branch: 'elsewhere', ref: 'master' })
  await jane.put(url, { target_branch: 'elsewhere' })
  expect(await left()).toBe(1)
})

test('what was not read whole, or is no text, is never the same', async () => {
  await using forge = await startForge()
  const { at, write, push, left, approve } = await approved(forge)
  const reworded = async () => {
    await at('commit', '-q', '--amend', '-m', `Again ${Math.random()}`)
    await push()
    return left()
  }
  expect(await reworded()).toBe(0)
  await write('picture.bin', new Uint8Array([0, 1, 2, 3]))
  await at('commit', '-q', '-m', 'A picture')
  await push()
  await approve()
  expect(await reworded()).toBe(1)
  await at('rm', '-q', 'picture.bin')
  await write('huge.txt', 'a line of a large file\n'.repeat(10_000))
  await at('commit', '-q', '-m', 'Much text')
  await push()
  await approve()
  expect(await reworded()).toBe(1)

  // Different bytes that are not UTF-8 look alike when decoded as text.
  await at('rm', '-q', 'huge.txt')
  await write('latin.txt', new Uint8Array([0x61, 0xe8, 0x0a]))
  await at('commit', '-q', '-m', 'Another encoding')
  await push()
  await approve()
  expect(await reworded()).toBe(0)
  await write('latin.txt', new Uint8Array([0x61, 0xe9, 0x0a]))
  expect(await reworded()).toBe(1)
})
