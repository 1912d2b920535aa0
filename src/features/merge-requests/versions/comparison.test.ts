import { expect, test } from 'vitest'
import { numbered, openReview } from '../../../../test/reviews.ts'
import { startForge } from '../../../forge.ts'

const titles = (commits: readonly { title: string }[]) => commits.map(({ title }) => title)

test('a rebase alone changes nothing, whatever the new base brought', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: numbered(40), b: 'b\n' })
  await git('checkout', '-q', '-b', 'feature')
  const before = [
    await commit('a', numbered(40, { 3: 'mine' }), 'Mine'),
    await commit('a', numbered(40, { 3: 'mine', 5: 'also' }), 'Also'),
  ]
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  await git('checkout', '-q', 'master')
  await commit('a', numbered(40, { 38: 'theirs' }), 'Theirs')
  await commit('c', 'c\n', 'More of theirs')
  await git('push', '-q', 'origin', 'master')
  await git('checkout', '-q', 'feature')
  await git('rebase', '-q', 'master')
  const after = [await git('rev-parse', 'HEAD~1'), await git('rev-parse', 'HEAD')]
  await git('push', '-q', '-f', 'origin', 'feature')
  const compare = async (from: number, to: number) => {
    const versions = (await jane.get(`${url}/versions`)).body.map(({ id }: { id: number }) => id).toReversed()
    return (await jane.get(`${url}/versions/compare`, { from: versions[from], to: versions[to] })).body
  }
  const rebased = await compare(0, 1)
  expect(rebased).toMatchObject({ rebased: true, diffs: [], overflow: false, commits: { added: [], removed: [] } })
  expect(rebased.commits.kept).toEqual([
    { from: before[1], to: after[1] },
    { from: before[0], to: after[0] },
  ])
  expect(rebased.from).toMatchObject({ head_commit_sha: before[1] })

  // One more line on top of the rebase: the comparison with the first version shows only that line.
  await git('commit', '-q', '--amend', '-m', 'Also')
  await commit('a', numbered(40, { 3: 'mine', 5: 'also', 38: 'theirs', 20: 'new' }), 'New')
  await git('push', '-q', '-f', 'origin', 'feature')
  for (const from of [0, 1]) {
    const grown = await compare(from, 2)
    expect(grown.rebased).toBe(from === 0)
    expect(titles(grown.commits.added)).toEqual(['New'])
    expect(grown.commits.removed).toEqual([])
    expect(grown.commits.kept).toHaveLength(2)
    expect(grown.diffs).toMatchObject([{ new_path: 'a', conflict: false }])
    const changed = grown.diffs[0].diff.split('\n').filter((line: string) => /^[-+]\w/.test(line))
    expect(changed).toEqual(['-line 20', '+new'])
  }
  expect(titles((await compare(2, 0)).commits.removed)).toEqual(['New'])

  // The same for a merge of the target instead of a rebase.
  await git('checkout', '-q', 'master')
  await commit('d', 'd\n', 'Still more of theirs')
  await git('push', '-q', 'origin', 'master')
  await git('checkout', '-q', 'feature')
  await git('merge', '-q', '-m', 'Merge master', 'master')
  await git('push', '-q', 'origin', 'feature')
  const merged = await compare(2, 3)
  expect(merged).toMatchObject({ rebased: true, diffs: [], commits: { removed: [] } })
  expect(titles(merged.commits.added)).toEqual(['Merge master'])
})

test('where the older version cannot be carried over, the file says so', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: numbered(9), b: numbered(9), c: numbered(9) })
  await git('checkout', '-q', '-b', 'feature')
  await commit('a', numbered(9, { 5: 'mine' }), 'Mine')
  await commit('b', numbered(9, { 5: 'mine' }), 'Mine too')
  await commit('c', null, 'Away')
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  await git('checkout', '-q', 'master')
  await commit('a', numbered(9, { 5: 'theirs' }), 'Theirs')
  await commit('c', numbered(9, { 5: 'theirs' }), 'Theirs too')
  await git('push', '-q', 'origin', 'master')
  await git('checkout', '-q', '-B', 'feature')
  await commit('a', numbered(9, { 5: 'both' }), 'Resolved')
  await commit('b', numbered(9, { 5: 'mine' }), 'Mine too')
  await git('push', '-q', '-f', 'origin', 'feature')
  const [to, from] = (await jane.get(`${url}/versions`)).body as { id: number }[]
  const { status, body } = await jane.get(`${url}/versions/compare`, { from: from!.id, to: to!.id })
  expect(status).toBe(200)
  expect(body.rebased).toBe(true)
  expect(titles(body.commits.added)).toEqual(['Resolved'])
  expect(titles(body.commits.removed)).toEqual(['Away', 'Mine'])
  expect(body.diffs).toMatchObject([
    { new_path: 'a', conflict: true, new_file: false },
    { new_path: 'c', conflict: true, new_file: true },
  ])
  expect(body.diffs[0].diff).toContain('-mine\n+both\n')
  expect(body.diffs[0].diff).not.toContain('<<<<')
})

test('versions that are not there are not compared', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  for (const name of ['one', 'two']) {
    await git('checkout', '-q', '-b', name, 'master')
    await commit(name, 'x\n')
    await git('push', '-q', 'origin', name)
  }
  const [one, two] = [await propose('one'), await propose('two')]
  const [mine] = (await jane.get(`${one.url}/versions`)).body
  const [others] = (await jane.get(`${two.url}/versions`)).body
  for (const [input, status, message] of [
    [{ from: mine.id, to: others.id }, 404, '404 Not found'],
    [{ from: others.id, to: mine.id }, 404, '404 Not found'],
    [{ from: mine.id }, 400, '400 (Bad request) to not given'],
    [{ from: mine.id, to: 'x' }, 400, 'to is invalid'],
  ] as const)
    expect(await jane.get(`${one.url}/versions/compare`, input)).toMatchObject({ status, body: { message } })
  const same = await jane.get(`${one.url}/versions/compare`, { from: mine.id, to: mine.id })
  expect(same.body).toMatchObject({ rebased: false, diffs: [], commits: { added: [], removed: [] } })
})
