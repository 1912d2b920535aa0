import { expect, test } from 'vitest'
import { proposed } from '../../../../test/approvals.ts'
import { startForge } from '../../../forge.ts'

const REFUSED = { status: 405, body: { message: '405 Method Not Allowed' } }

test('owners of what is changed must agree where the branch asks for them', async () => {
  await using forge = await startForge()
  const { jane, john, mary, root, project, propose, member } = await proposed(forge, 0)
  const group = await forge.group({}, jane)
  const insider = await member()
  await jane.post(`/groups/${group.id}/members`, { user_id: insider.id, access_level: 10 })
  const stranger = await forge.user()
  const owners = `
* @${john.username}
[Docs] @${group.full_path}
*.md
docs/**/*.txt @${stranger.username}
^[Style]
*.css @${mary.username}
[Base][2]
*.sql @${john.username} ${mary.email} @${jane.username}
`
  await forge.seed(project, { CODEOWNERS: owners })
  const one = await propose('docs', { 'x.md': 'x', 'docs/y.txt': 'y', 'z.css': 'z' })
  const approvals = async () => (await jane.get(`${one.url}/approvals`)).body
  const rules = async () =>
    (await jane.get(`${one.url}/approval_state`)).body.rules.map(
      (rule: { section: string; name: string; approvals_required: number; approved: boolean }) =>
        [rule.section, rule.name, rule.approvals_required, rule.approved] as const,
    )
  // The rules are shown, but not required yet.
  expect(await rules()).toEqual([
    ['', '*', 0, true],
    ['Docs', '*.md', 0, true],
    ['Docs', 'docs/**/*.txt', 0, true],
    ['Style', '*.css', 0, true],
  ])
  await jane.delete(`${root}/protected_branches/master`)
  await jane.post(`${root}/protected_branches`, { name: 'mas*', code_owner_approval_required: true })
  expect(await rules()).toEqual([
    ['', '*', 1, false],
    ['Docs', '*.md', 1, false],
    // Owners who may not approve are not waited for.
    ['Docs', 'docs/**/*.txt', 0, true],
    ['Style', '*.css', 0, true],
  ])
  expect(await approvals()).toMatchObject({ approvals_required: 2, approvals_left: 2, approved: false })
  expect((await jane.get(one.url)).body.detailed_merge_status).toBe('not_approved')
  expect(await jane.put(`${one.url}/merge`)).toMatchObject(REFUSED)
  await mary.post(`${one.url}/approve`)
  expect(await approvals()).toMatchObject({ approvals_left: 2 })
  await insider.post(`${one.url}/approve`)
  expect(await approvals()).toMatchObject({
    approvals_left: 1,
    approval_rules_left: [{ name: '*', rule_type: 'code_owner' }],
    suggested_approvers: [{ id: john.id }],
  })
  expect(await jane.put(`${one.url}/merge`)).toMatchObject(REFUSED)
  await john.post(`${one.url}/approve`)
  expect(await rules()).toContainEqual(['', '*', 1, true])

  // The source branch cannot change the owners.
  const evil = await propose('evil', { CODEOWNERS: '', 'q.sql': 'drop' })
  expect((await jane.get(`${evil.url}/approvals`)).body).toMatchObject({ approvals_required: 3 })
  await john.post(`${evil.url}/approve`)
  expect((await jane.get(`${evil.url}/approvals`)).body).toMatchObject({ approvals_left: 1 })
  expect(await jane.put(`${evil.url}/merge`)).toMatchObject(REFUSED)

  expect(await jane.put(`${one.url}/merge`)).toMatchObject({ status: 200, body: { state: 'merged' } })
  // The target's current file applies.
  await forge.seed(project, { CODEOWNERS: `*.sql @${mary.username}`, 'docs/CODEOWNERS': '* @nobody' })
  expect((await jane.get(`${evil.url}/approvals`)).body).toMatchObject({ approvals_required: 1, approvals_left: 1 })
  await forge.seed(project, { CODEOWNERS: null, 'docs/CODEOWNERS': null })
  expect((await jane.get(`${evil.url}/approvals`)).body).toMatchObject({ approvals_required: 0, approvals_left: 0 })
})

test('where files cannot be matched within bounds, all owners are asked', async () => {
  await using forge = await startForge()
  const { jane, john, mary, root, project, propose } = await proposed(forge, 0)
  await jane.delete(`${root}/protected_branches/master`)
  await jane.post(`${root}/protected_branches`, { name: 'master', code_owner_approval_required: true })
  const slow = Array.from({ length: 300 }, (_, n) => `${'*?a'.repeat(60)}${n}b @${john.username}`)
  await forge.seed(project, { CODEOWNERS: [...slow, '[Elsewhere]', `/elsewhere @${mary.username}`].join('\n') })
  const few = await propose('few', { 'b.txt': 'b' })
  expect((await jane.get(`${few.url}/approvals`)).body).toMatchObject({ approvals_required: 0 })
  const names = Array.from({ length: 40 }, (_, n) => ['a'.repeat(200 + n), 'a'] as const)
  const many = await propose('many', Object.fromEntries(names))
  expect((await jane.get(`${many.url}/approvals`)).body).toMatchObject({ approvals_required: 301, approvals_left: 301 })
  await john.post(`${many.url}/approve`)
  expect((await jane.get(`${many.url}/approvals`)).body).toMatchObject({
    approvals_left: 1,
    suggested_approvers: [{ id: mary.id }],
  })
})
