// A Node server that stalls: each request for /report hashes for 800 ms in its handler, synchronously.
const { pbkdf2Sync } = require('node:crypto')
const http = require('node:http')

function computeReport() {
  const end = performance.now() + 800
  let key = 'report'
  while (performance.now() < end) key = pbkdf2Sync(key, 'salt', 10000, 64, 'sha512').toString('hex')
  return key
}

const server = http.createServer((request, response) => {
  response.end(request.url === '/report' ? `${computeReport()}\n` : 'try /report\n')
})

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  console.log(`ready ${process.pid} http://127.0.0.1:${server.address().port}/report`)
})
