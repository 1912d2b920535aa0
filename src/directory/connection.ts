/**
 * One conversation with a directory server: opened for a piece of work, encrypted as configured, bound to the account
 * that searches, and closed afterwards, each within its deadline. Whatever goes wrong in it is DirectoryUnreachable:
 * a server that refuses, is silent, breaks off or does not let us in has told nothing about anybody.
 */
import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls'
import type * as ldapts from 'ldapts'
import type { Config } from '../config.ts'

/** No fact was learnt: nobody may be refused for good, blocked or removed because of it. */
export class DirectoryUnreachable extends Error {}

export type Ldapts = typeof ldapts

export type Server = Pick<Config, 'ldapTls' | 'ldapBindDn' | 'ldapBindPassword' | 'ldapProvider'> & {
  readonly ldapUrl: string
}

const OPENING_MS = 5_000
const OPERATION_MS = 10_000

export async function converse<T>(
  server: Server,
  work: (client: ldapts.Client, ldap: Ldapts) => Promise<T>,
): Promise<T> {
  // Most forges have no directory, and the start waits for nothing it does not need.
  const ldap = await import('ldapts')
  const client = new ldap.Client({
    url: server.ldapUrl,
    connectTimeout: OPENING_MS,
    timeout: OPERATION_MS,
    ...onlyOnce(),
    ...(isSecure(server) && { tlsOptions: tlsOptions(server) }),
  })
  try {
    await within(OPENING_MS, open(client, server))
    return await work(client, ldap)
  } catch (cause) {
    const what = `the directory ${server.ldapProvider} is of no help`
    throw new DirectoryUnreachable(`${what}: ${reasonOf(cause, ldap)}`, { cause })
  } finally {
    await client.unbind().catch(() => {})
  }
}

function reasonOf(error: unknown, ldap: Ldapts): string {
  // Of a host with several addresses Node tells every failure, and none in the message.
  if (error instanceof AggregateError) return reasonOf(error.errors[0], ldap)
  const { name, message } = error as Error
  // Servers tell most results by their number alone; the error's name says which it is.
  return error instanceof ldap.ResultCodeError ? `${name} ${message}` : message
}

async function open(client: ldapts.Client, server: Server): Promise<void> {
  if (!isSecure(server) && server.ldapTls !== 'off') await client.startTLS(tlsOptions(server))
  await client.bind(server.ldapBindDn ?? '', server.ldapBindPassword ?? '')
}

const isSecure = ({ ldapUrl }: Server) => ldapUrl.startsWith('ldaps:')

function tlsOptions({ ldapUrl, ldapTls }: Server): ConnectionOptions {
  const host = new URL(ldapUrl).hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, rejectUnauthorized: ldapTls === 'on', ...(isIP(host) === 0 && { servername: host }) }
}

/** ldapts would replace a lost connection silently, by one that is neither bound nor, after StartTLS, encrypted. */
export function onlyOnce() {
  const once = <F extends (...given: never[]) => unknown>(connect: F): F => {
    let isUsed = false
    return ((...given: never[]) => {
      if (isUsed) throw new Error('the connection was lost')
      isUsed = true
      return connect(...given)
    }) as F
  }
  return { createConnection: once(connectPlain), createSecureConnection: once(connectSecurely) }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
