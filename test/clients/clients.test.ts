import { Gitlab } from '@gitbeaker/rest'
import * as openpgp from 'openpgp'
import { beforeEach, afterEach, expect, test } from 'vitest'
import { startCommand, type Command } from '../start/command.ts'
import { runScript } from './scripts.ts'

const TOKEN = 'clients-root-token'
const SSH_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMiKCNOaZ0Yz3eWtCBEtHc3sEvj1rn8bHLjbXKpGDlXv clients@example.com'

let server: Command
beforeEach(async () => {
  server = await startCommand({ MORTISE_ROOT_TOKEN: TOKEN })
})
afterEach(() => server.stop())

async function gpgKey(): Promise<string> {
  const { publicKey } = await openpgp.generateKey({ userIDs: [{ name: 'Client', email: 'client@example.com' }] })
  return publicKey
}

test('python-gitlab', async () => {
  const stdout = await runScript('python', 'python_gitlab.py', [server.url, TOKEN, SSH_KEY, await gpgKey()])
  expect(stdout).toContain('is content')
})

test('gitbeaker', async () => {
  const api = new Gitlab({ host: server.url, token: TOKEN })
  expect(await api.Users.showCurrentUser()).toMatchObject({ username: 'root', is_admin: true })
  expect((await api.Metadata.show()).version).toMatch(/^\d+\.\d+\.\d+$/)

  for (let i = 0; i < 5; i++) {
    const created = await api.Users.create({
      email: `gb${i}@example.com`,
      username: `gb${i}`,
      name: `GB ${i}`,
      password: 'correct horse',
      skipConfirmation: true,
    })
    expect(created).toMatchObject({ username: `gb${i}`, state: 'active' })
  }
  const everybody = await api.Users.all({ perPage: 2 })
  expect(everybody.map(({ username }) => username)).toEqual(['gb4', 'gb3', 'gb2', 'gb1', 'gb0', 'root'])
  const { paginationInfo } = await api.Users.all({ perPage: 2, page: 2, maxPages: 1, showExpanded: true })
  expect(paginationInfo).toMatchObject({ total: 6, totalPages: 3, current: 2, next: 3, previous: 1, perPage: 2 })

  const [jane] = await api.Users.all({ username: 'gb0' })
  const { id } = jane!
  expect(await api.Users.edit(id, { name: 'Edited', bio: 'by gitbeaker' })).toMatchObject({
    name: 'Edited',
    bio: 'by gitbeaker',
  })
  await api.Users.block(id)
  expect(await api.Users.show(id)).toMatchObject({ state: 'blocked' })
  await api.Users.unblock(id)

  const key = await api.UserSSHKeys.create('laptop', SSH_KEY, { userId: id })
  expect(await api.UserSSHKeys.all({ userId: id })).toMatchObject([{ id: key.id, title: 'laptop' }])
  await api.UserSSHKeys.remove(key.id, { userId: id })
  const gpg = await api.UserGPGKeys.create(await gpgKey(), { userId: id })
  expect(await api.UserGPGKeys.all({ userId: id })).toHaveLength(1)
  await api.UserGPGKeys.remove(gpg.id, { userId: id })
  const email = await api.UserEmails.create('second@example.com', { userId: id })
  expect(await api.UserEmails.all({ userId: id })).toMatchObject([{ email: 'second@example.com' }])
  await api.UserEmails.remove(email.id, { userId: id })

  const token = await api.UserImpersonationTokens.create(id, 'bot', ['api'], { expiresAt: '2999-01-01' })
  expect(await new Gitlab({ host: server.url, token: token.token }).Users.showCurrentUser()).toMatchObject({
    username: 'gb0',
  })
  expect(await new Gitlab({ host: server.url, oauthToken: token.token }).Users.showCurrentUser()).toMatchObject({
    username: 'gb0',
  })
  await api.UserImpersonationTokens.revoke(id, token.id)
  expect(await api.UserImpersonationTokens.all(id)).toMatchObject([{ revoked: true, active: false }])
  const personal = await api.PersonalAccessTokens.create(id, 'cli', ['read_user'])
  expect(await api.PersonalAccessTokens.all({ userId: id })).toMatchObject([{ id: personal.id, name: 'cli' }])

  const failure = api.Users.create({
    email: 'gb1@example.com',
    username: 'other',
    name: 'Other',
    password: 'correct horse',
  })
  await expect(failure).rejects.toMatchObject({
    cause: { description: expect.stringContaining('Email has already been taken') },
  })
  for (const { id, username } of everybody) if (username !== 'root') await api.Users.remove(id, { hardDelete: true })
  expect(await api.Users.all()).toMatchObject([{ username: 'root' }])
})
