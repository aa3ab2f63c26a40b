// A kubelet's streaming endpoints, served by the kubelet's own library: commands are children of this
// program, forwarded ports are this machine's. It prints its port, and ends when its input does.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
	remotecommandconsts "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	streaming "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const patience = time.Minute

type node struct{}

func (node) ExecInContainer(ctx context.Context, pod string, uid types.UID, container string, argv []string,
	in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize,
	timeout time.Duration) error {
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = append(os.Environ(), "POD="+pod, "CONTAINER="+container)
	command.WaitDelay = time.Second
	var err error
	if tty {
		err = runOnTerminal(command, in, out, resize)
	} else {
		var stdin io.WriteCloser
		if in != nil {
			if stdin, err = command.StdinPipe(); err != nil {
				return err
			}
			go func() { io.Copy(stdin, in); stdin.Close() }()
		}
		if out != nil {
			command.Stdout = out
		}
		if errs != nil {
			command.Stderr = errs
		}
		err = command.Run()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", exit.ExitCode()), Code: exit.ExitCode()}
	}
	return err
}

func runOnTerminal(command *exec.Cmd, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	command.Stdin, command.Stdout, command.Stderr = slave, slave, slave
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	go func() {
		for size := range resize {
			unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
		}
	}()
	if err := command.Start(); err != nil {
		return err
	}
	slave.Close()
	if in != nil {
		go io.Copy(master, in)
	}
	io.Copy(out, master) // until the last of the terminal's processes ends
	return command.Wait()
}

func (node) PortForward(ctx context.Context, pod string, uid types.UID, port int32, stream io.ReadWriteCloser) error {
	peer, err := net.Dial("tcp4", fmt.Sprintf("localhost:%d", port))
	if err != nil {
		return err
	}
	defer peer.Close()
	// As containerd: it ends when either side does.
	done := make(chan struct{}, 2)
	go func() { io.Copy(stream, peer); done <- struct{}{} }()
	go func() { io.Copy(peer, stream); done <- struct{}{} }()
	<-done
	return nil
}

func serve(w http.ResponseWriter, req *http.Request) {
	log.Printf("%s %s %s", req.Method, req.URL.Path, req.Header.Get("Upgrade"))
	path := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case path[0] == "exec" && len(path) == 4:
		options, err := streaming.NewOptions(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		streaming.ServeExec(w, req, node{}, path[2], "", path[3], req.URL.Query()["command"], options, patience, patience,
			remotecommandconsts.SupportedStreamingProtocols)
	case path[0] == "portForward" && len(path) == 3:
		options, err := portforward.NewV4Options(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, req, node{}, path[2], "", options, patience, patience,
			portforward.SupportedProtocols)
	default:
		http.NotFound(w, req)
	}
}

func main() {
	cert, key := flag.String("cert", "", "PEM file"), flag.String("key", "", "PEM file")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.ServeTLS(listener, http.HandlerFunc(serve), *cert, *key))
}
