import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Client } from 'ldapts'
import { expect, test } from 'vitest'
import { onlyOnce } from './connection.ts'

test('a connection that is lost is not replaced by one that is neither encrypted nor bound', async () => {
  let connections = 0
  await using server = createServer((socket) => {
    connections++
    socket.on('error', () => {}).once('data', () => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`
  await using client = new Client({ url, ...onlyOnce() })

  await expect(client.bind('cn=service', 'words')).rejects.toThrow('Connection closed')
  await expect.poll(() => client.isConnected).toBe(false)
  await expect(client.search('dc=org')).rejects.toThrow('the connection was lost')
  await expect(client.bind('cn=jane', 'her password')).rejects.toThrow('the connection was lost')
  expect(connections).toBe(1)
})
