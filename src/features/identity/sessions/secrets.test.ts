import { expect, test } from 'vitest'
import { Browser, hiddenFields } from '../../../../test/browser.ts'
import { linkIn, mailsOf } from '../../../../test/mailbox.ts'
import { codeFor, exchangeCode, oauthPost, pkcePair, registerApplication } from '../../../../test/oauth.ts'
import { startForge } from '../../../forge.ts'

test('no secret of a sign-in, a mailed link or OAuth reaches the log', async () => {
  const lines: string[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(line) } })
  const secrets: string[] = ['correct horse', 'wrong horse', 'my own words']
  const jane = await forge.user({ username: 'jane', password: 'correct horse' })
  const browser = new Browser(forge.url)
  await browser.signIn('jane', 'wrong horse')
  await browser.signIn('jane', 'correct horse')
  secrets.push(jane.token, ...browser.cookies.values())

  const app = await registerApplication(forge)
  const { verifier, challenge } = pkcePair()
  const code = await codeFor(browser, app, { ...challenge, state: 'state-of-the-client' })
  const { body: token } = await exchangeCode(forge, app, code, { code_verifier: verifier })
  await exchangeCode(forge, app, code, { code_verifier: verifier })
  await exchangeCode(forge, app, `${code.slice(1)}0`, { code_verifier: verifier })
  secrets.push(app.client_secret, verifier, code, token.access_token, token.refresh_token)
  await forge.visitor.get('/user', { access_token: token.access_token })
  await forge.visitor.get('/user', { private_token: jane.token })
  await fetch(`${forge.url}/oauth/token?grant_type=refresh_token&refresh_token=${token.refresh_token}`, {
    method: 'POST',
  })
  await oauthPost(forge, 'token', { grant_type: 'password', username: 'jane', password: 'wrong horse' })

  const form = await browser.get('/users/password/new')
  secrets.push(hiddenFields(form).authenticity_token!)
  await browser.submit(form, { 'user[email]': 'jane@example.com' })
  const link = linkIn((await mailsOf(forge))[0]!)
  const page = await browser.get(link)
  secrets.push(hiddenFields(page)['user[reset_password_token]']!)
  await browser.submit(page, { 'user[password]': 'my own words' })
  await forge.settle()

  const log = lines.join('')
  expect(lines.length).toBeGreaterThan(10)
  expect(log).toContain('/users/password/edit')
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(8)
    expect(log.includes(secret), `${secret} is in the log`).toBe(false)
  }
})
