module svc.example/clients

go 1.25.0

require github.com/google/go-github/v88 v88.0.0

require github.com/google/go-querystring v1.2.0 // indirect
