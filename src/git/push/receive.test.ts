import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { client, startGitServer, type GitServer, type ServerOptions } from '../../../test/git-server.ts'
import { runGit } from '../../../test/git-origin.ts'
import { git } from '../process/command.ts'
import { isQuarantine } from './quarantine.ts'
import type { Push } from './receive.ts'

const refsOf = async (dir: string) =>
  Object.fromEntries(
    (await runGit([`--git-dir=${dir}`, 'for-each-ref', '--format=%(refname) %(objectname)']))
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')),
  ) as Record<string, string>

const leftovers = async (dir: string) => (await readdir(join(dir, 'objects'))).filter(isQuarantine)

/** A clone with `commits` unpushed commits on master. */
async function workIn(server: GitServer, name: string, commits = 1): Promise<Work> {
  const path = join(server.root, name)
  await client(server.root, 'init', '--quiet', '--initial-branch=master', path)
  const run = (...args: string[]) => client(path, ...args)
  const commit = async (message: string) => {
    await run('commit', '--quiet', '--allow-empty', '--message', message)
    return (await run('rev-parse', 'HEAD')).output
  }
  for (let n = 1; n <= commits; n++) await commit(`${name} ${n}`)
  return { path, run, commit }
}

interface Work {
  readonly path: string
  run(...args: string[]): ReturnType<typeof client>
  commit(message: string): Promise<string>
}

const statuses = ({ output }: { output: string }) =>
  output
    .split('\n')
    .filter((line) => /^[ +*=!-]\t/.test(line))
    .map((line) => line.split('\t').join(' '))
    .toSorted()

describe.each(['http', 'socket'] as const)('over %s', (door) => {
  test('branches are created, advanced, forced and deleted', async () => {
    await using server = await startGitServer()
    const url = server[door]
    const work = await workIn(server, 'work')
    const one = (await work.run('rev-parse', 'HEAD')).output
    expect(await work.run('push', url, 'master', 'master:refs/notes/x')).toMatchObject({ code: 0 })
    expect(await refsOf(server.dir)).toEqual({ 'refs/heads/master': one, 'refs/notes/x': one })

    const two = await work.commit('two')
    await work.run('tag', '--annotate', 'v1', '--message', 'first')
    expect(await work.run('push', url, 'master', 'v1')).toMatchObject({ code: 0 })
    const tag = (await work.run('rev-parse', 'v1')).output
    expect(await refsOf(server.dir)).toEqual({
      'refs/heads/master': two,
      'refs/notes/x': one,
      'refs/tags/v1': tag,
    })

    await work.run('reset', '--quiet', '--hard', one)
    const other = await work.commit('other')
    expect((await work.run('push', url, 'master')).code).toBe(1)
    expect(await work.run('push', '--force', url, 'master')).toMatchObject({ code: 0 })
    expect(await work.run('push', url, ':refs/notes/x', ':v1', 'master:again')).toMatchObject({ code: 0 })
    expect(await work.run('push', url, ':again')).toMatchObject({ code: 0 })
    expect(await refsOf(server.dir)).toEqual({ 'refs/heads/master': other })
    expect((await work.run('push', url, 'master')).words).toBe('Everything up-to-date\n')
    expect(await runGit([`--git-dir=${server.dir}`, 'fsck', '--strict'])).not.toMatch(/error|missing|broken/)
    expect(await leftovers(server.dir)).toEqual([])
    expect(server.failures).toEqual([])
  })

  test('a refusal cancels all refs, and its words reach the person', async () => {
    const seen: Push[] = []
    await using server = await startGitServer({
      gate: async (push) => {
        seen.push(push)
        return { refuse: 'Mortise: No.\nNot \x1b[31mtoday.' }
      },
      afterwards: () => Promise.reject(new Error('nothing has moved')),
    })
    const work = await workIn(server, 'work')
    const answer = await work.run('push', '--porcelain', server[door], 'master', 'master:other')
    expect(answer.code).toBe(1)
    expect(answer.words).toMatch(/^remote: Mortise: No\. *\nremote: Not \[31mtoday\. *\n/)
    expect(statuses(answer)).toEqual([
      '! refs/heads/master:refs/heads/master [remote rejected] (pre-receive hook declined)',
      '! refs/heads/master:refs/heads/other [remote rejected] (pre-receive hook declined)',
    ])
    expect(seen).toHaveLength(1)
    expect(await refsOf(server.dir)).toEqual({})
    expect(await leftovers(server.dir)).toEqual([])
    expect(await readdir(join(server.dir, 'objects/pack'))).toEqual([])
    expect(server.failures).toEqual([])
  })

  test('the gate reads what nobody else sees yet; what moved is there before the client hears of it', async () => {
    const steps: string[] = []
    let master = ''
    await using server: GitServer = await startGitServer({
      async gate({ updates, options, environment }) {
        const subject = (more: object) => git(server.dir, ['log', '-1', '--format=%s', master as 'HEAD'], more)
        steps.push(await subject({ environment }), await subject({}).catch(() => 'unseen'))
        expect(updates).toEqual([{ ref: 'refs/heads/master', before: '0'.repeat(40), after: master }])
        expect(options).toEqual(['ci.skip', 'x=é y'])
        // No ref may move to an object that may be deleted.
        const early = git(server.dir, ['update-ref', 'refs/heads/early', master as 'HEAD'], { environment })
        await expect(early).rejects.toThrow('quarantine')
        return { messages: ['let through'] }
      },
      async afterwards(moved, { options }) {
        steps.push(JSON.stringify([moved.length, options.length]), (await refsOf(server.dir))['refs/heads/master']!)
        return { messages: ['', 'To create a merge request, visit:', '  http://x', ''] }
      },
    })
    const work = await workIn(server, 'work')
    master = (await work.run('rev-parse', 'HEAD')).output
    const answer = await work.run('push', '-o', 'ci.skip', '--push-option=x=é y', server[door], 'master')
    expect(answer.code).toBe(0)
    expect(answer.words.replaceAll(/ +\n/g, '\n')).toMatch(
      /remote: let through\nremote:\nremote: To create a merge request, visit:\nremote:   http:\/\/x\nremote:\n/,
    )
    expect(steps).toEqual(['work 1\n', 'unseen', '[1,2]', master])
    expect(server.failures).toEqual([])
  })

  test('what is thrown behind the gate stops the push, behind the refs it does not', async () => {
    const options: { -readonly [K in keyof ServerOptions]: ServerOptions[K] } = {
      gate: () => Promise.reject(new Error('gate')),
    }
    await using server = await startGitServer({
      gate: (push) => options.gate!(push),
      afterwards: () => Promise.reject(new Error('afterwards')),
    })
    const work = await workIn(server, 'work')
    const refused = await work.run('push', '--porcelain', server[door], 'master')
    expect(statuses(refused)).toEqual(['! refs/heads/master:refs/heads/master [remote rejected] (internal error)'])
    expect(await refsOf(server.dir)).toEqual({})
    options.gate = () => Promise.resolve({})
    expect(await work.run('push', server[door], 'master')).toMatchObject({ code: 0 })
    expect(server.failures).toEqual([new Error('gate'), new Error('afterwards')])
  })
})

test('refs of our own, and names that are none, are not for pushes', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work')
  const one = (await work.run('rev-parse', 'HEAD')).output
  const ours = [
    'merge-requests/1/head',
    'keep-around/x',
    'environments/a/deployments/1',
    'pipelines/1',
    'tmp/x',
    'TMP/y',
  ]
  const hidden = [...ours, 'remotes/origin/x', 'pools/1'].map((name) => `refs/${name}`)
  await work.run('push', server.http, 'master')
  for (const name of hidden) await runGit([`--git-dir=${server.dir}`, 'update-ref', name, one])
  const before = await refsOf(server.dir)
  await work.commit('two')

  const answer = await work.run(
    'push',
    '--porcelain',
    server.http,
    ...hidden.map((name) => `+master:${name}`),
    'master:y',
  )
  expect(statuses(answer)).toEqual([
    ...hidden.map((name) => `! refs/heads/master:${name} [remote rejected] (deny updating a hidden ref)`).toSorted(),
    '* refs/heads/master:refs/heads/y [new branch]',
  ])
  expect(await refsOf(server.dir)).toEqual({ ...before, 'refs/heads/y': (await work.run('rev-parse', 'HEAD')).output })

  const names = ['-x', 'a/-x', 'HEAD', '@', 'refs/heads/x'].map((name) => `refs/heads/${name}`)
  const all = [...names, 'refs/tags/HEAD', 'refs/tags/refs/tags/x']
  const funny = await work.run('push', '--porcelain', server.http, ...all.map((name) => `master:${name}`))
  expect(statuses(funny)).toEqual(
    all.map((name) => `! refs/heads/master:${name} [remote rejected] (funny refname)`).toSorted(),
  )
})

test('a branch named like something else can still be taken away', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work')
  await work.run('push', server.http, 'master:x')
  await runGit([`--git-dir=${server.dir}`, 'update-ref', 'refs/heads/refs/heads/x', 'refs/heads/x'])
  const answer = await work.run('push', '--porcelain', server.http, ':refs/heads/refs/heads/x')
  expect(statuses(answer)).toEqual(['- :refs/heads/refs/heads/x [deleted]'])
})

test('one ref that cannot be takes the others along only if the push is atomic', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work')
  await work.run('push', server.http, 'master:a')
  const refs = ['master:b', 'master:a/b', 'master:c']
  const atomic = await work.run('push', '--porcelain', '--atomic', server.http, ...refs)
  expect(statuses(atomic)).toEqual([
    '! refs/heads/master:refs/heads/a/b [remote rejected] (atomic transaction failed)',
    '! refs/heads/master:refs/heads/b [remote rejected] (atomic transaction failed)',
    '! refs/heads/master:refs/heads/c [remote rejected] (atomic transaction failed)',
  ])
  expect(atomic.words).toContain('remote: error: another ref is in the way: refs/heads/a/b')
  expect(Object.keys(await refsOf(server.dir))).toEqual(['refs/heads/a'])

  const hidden = await work.run('push', '--porcelain', '--atomic', server.http, 'master:b', 'master:refs/tmp/x')
  expect(statuses(hidden)).toEqual([
    '! refs/heads/master:refs/heads/b [remote rejected] (atomic push failure)',
    '! refs/heads/master:refs/tmp/x [remote rejected] (deny updating a hidden ref)',
  ])
  expect(Object.keys(await refsOf(server.dir))).toEqual(['refs/heads/a'])

  const single = await work.run('push', '--porcelain', server.http, ...refs)
  expect(statuses(single)).toEqual([
    '! refs/heads/master:refs/heads/a/b [remote rejected] (failed to update ref)',
    '* refs/heads/master:refs/heads/b [new branch]',
    '* refs/heads/master:refs/heads/c [new branch]',
  ])
  expect(Object.keys(await refsOf(server.dir))).toEqual(['refs/heads/a', 'refs/heads/b', 'refs/heads/c'])
  expect(server.failures).toEqual([])
})

test('hundreds of refs come at once', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work')
  const refs = Array.from({ length: 600 }, (_, n) => `master:refs/heads/many/${n}`)
  expect(await work.run('push', '--quiet', server.http, ...refs)).toMatchObject({ code: 0, words: '' })
  expect(Object.keys(await refsOf(server.dir))).toHaveLength(600)
  const gone = await work.run('push', '--quiet', server.socket, ...refs.map((ref) => ref.replace('master', '')))
  expect(gone).toMatchObject({ code: 0, words: '' })
  expect(await refsOf(server.dir)).toEqual({})
})

test('a shallow clone pushes what stands on history we have, and nothing that does not', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work', 3)
  await work.run('push', server.http, 'master')
  await client(server.root, 'clone', '--quiet', '--depth=1', server.http, 'shallow')
  const shallow = join(server.root, 'shallow')
  await client(shallow, 'commit', '--quiet', '--allow-empty', '--message', 'on top')
  expect(await client(shallow, 'push', server.http, 'HEAD:top')).toMatchObject({ code: 0 })

  await using empty = await startGitServer()
  const answer = await client(shallow, 'push', '--porcelain', empty.http, 'HEAD:top')
  expect(statuses(answer)).toEqual(['! HEAD:refs/heads/top [remote rejected] (shallow update not allowed)'])
  expect(await refsOf(empty.dir)).toEqual({})
  expect(await leftovers(empty.dir)).toEqual([])
})

test('a thin pack, and files larger than a request is sent in one piece', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work')
  const big = randomBytes(2_000_000)
  await writeFile(join(work.path, 'big'), big)
  await work.run('add', 'big')
  await work.commit('big')
  expect(await work.run('push', server.http, 'master')).toMatchObject({ code: 0 })
  await writeFile(join(work.path, 'big'), Buffer.concat([big, Buffer.from('more')]))
  await work.run('add', 'big')
  await work.commit('bigger')
  expect(await work.run('push', server.http, 'master')).toMatchObject({ code: 0 })
  await client(server.root, 'clone', '--quiet', server.http, 'clone')
  expect((await client(join(server.root, 'clone'), 'show', 'HEAD:big')).output.endsWith('more')).toBe(true)
  expect(await runGit([`--git-dir=${server.dir}`, 'fsck', '--strict'])).toBe('')
  expect(server.failures).toEqual([])
})

describe('who pushes at the same time', () => {
  const count = 8

  test('to one branch: exactly one wins', async () => {
    const { promise: allThere, resolve } = Promise.withResolvers<void>()
    let there = 0
    await using server = await startGitServer({
      // No push continues before all have seen the same refs.
      async gate() {
        if (++there === count) resolve()
        await allThere
        return {}
      },
    })
    const works = await Promise.all(Array.from({ length: count }, (_, n) => workIn(server, `work${n}`)))
    const doors = [server.http, server.socket]
    const answers = await Promise.all(works.map((work, n) => work.run('push', '--porcelain', doors[n % 2]!, 'master')))
    const won = answers.findIndex(({ code }) => code === 0)
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1)
    const lost = answers.filter(({ code }) => code !== 0).flatMap(statuses)
    expect(new Set(lost)).toEqual(
      new Set(['! refs/heads/master:refs/heads/master [remote rejected] (failed to update ref)']),
    )
    expect(await refsOf(server.dir)).toEqual({
      'refs/heads/master': (await works[won]!.run('rev-parse', 'HEAD')).output,
    })
    expect(await runGit([`--git-dir=${server.dir}`, 'fsck', '--strict'])).not.toMatch(/error|missing|broken/)
    expect(await leftovers(server.dir)).toEqual([])
  })

  test('to different branches: all do', async () => {
    await using server = await startGitServer()
    const works = await Promise.all(Array.from({ length: count }, (_, n) => workIn(server, `work${n}`)))
    const answers = await Promise.all(works.map((work, n) => work.run('push', server.http, `master:b${n}`)))
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 0))
    expect(Object.keys(await refsOf(server.dir))).toHaveLength(count)
    expect(server.failures).toEqual([])
  })
})

test('objects are checked as strictly as the repository says', async () => {
  await using server = await startGitServer()
  const work = await workIn(server, 'work')
  const tree = (await work.run('rev-parse', 'HEAD^{tree}')).output
  const make = (type: string, content: string | Uint8Array) =>
    runGit(['-C', work.path, 'hash-object', '-t', type, '-w', '--stdin', '--literally'], Buffer.from(content))
  const oldTool = await make('commit', `tree ${tree}\nauthor A <a@b> 1 +051800\ncommitter A <a@b> 1 +051800\n\nold\n`)
  expect(await work.run('push', server.http, `${oldTool}:refs/heads/old`)).toMatchObject({ code: 0 })

  const empty = Buffer.from('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391', 'hex')
  await make('blob', '')
  const evil = await make('tree', Buffer.concat([Buffer.from('100644 .GIT\0'), empty]))
  const evilCommit = await make('commit', `tree ${evil}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nevil\n`)
  const answer = await work.run('push', '--porcelain', server.http, `${evilCommit}:refs/heads/evil`)
  expect(statuses(answer)).toEqual([`! ${evilCommit}:refs/heads/evil [remote rejected] (unpacker error)`])
  expect(answer.words).toMatch(/remote: (error|fatal): .*hasDotgit/)
  expect(answer.words).not.toContain(server.root)
  expect(Object.keys(await refsOf(server.dir))).toEqual(['refs/heads/old'])
  expect(await leftovers(server.dir)).toEqual([])
})
